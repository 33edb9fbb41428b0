import { type ForgeApi, ForgeUnavailable, isTrueAt, numericAt, stringAt } from "./client.ts";

/** The API of Gitea and Forgejo, version 1. Neither has a rule about who pushed last: the commits alone tell. */
export const gitea: ForgeApi = {
  forge: "gitea",
  page: { size: 50, parameter: "limit" },
  keepsReviewsOnNewBase: true,
  authorization: (token) => `token ${token}`,
  async missing(ask, repository, branch) {
    const at = await ask(`${repository}/branches/${encodeURIComponent(branch)}`);
    if (at === null) throw new ForgeUnavailable(unreadable);
    if (!isTrueAt(at, "protected")) return ["a branch protection with at least 1 required approval"];
    // The rule may be for many branches; only administrators are told its name, and what it says.
    const name = stringAt(at, "effective_branch_protection_name");
    if (name === null || name === "") throw new ForgeUnavailable(hidden);
    const rule = await ask(`${repository}/branch_protections/${encodeURIComponent(name)}`);
    if (rule === null) throw new ForgeUnavailable(hidden);
    return [
      ...((numericAt(rule, "required_approvals") ?? 0) >= 1 ? [] : ["at least 1 required approval"]),
      ...(isTrueAt(rule, "dismiss_stale_approvals") ? [] : ["“Dismiss stale approvals”"]),
    ];
  },
  async pulls(ask, repository, { arrival }) {
    const pull = await ask(`${repository}/commits/${arrival}/pull`);
    return pull === null ? [] : [pull];
  },
  opinion(review) {
    if (isTrueAt(review, "dismissed")) return "otherwise";
    switch (stringAt(review, "state")) {
      case "APPROVED":
        return "approved";
      case "REQUEST_CHANGES":
        return "otherwise";
      default:
        return "remark";
    }
  },
};

const unreadable =
  "the repository is not visible on the forge; check --forge, and that the token in FLOTILLA_FORGE_TOKEN has read access";
const hidden =
  "the branch protection cannot be read; the token in FLOTILLA_FORGE_TOKEN needs admin access to the repository";
