import { type Json, memberAt } from "../../core/model/json.ts";
import { type ForgeApi, ForgeUnavailable, isTrueAt, listIn, numericAt, stringAt } from "./client.ts";

/** GitHub's REST API, version 2022-11-28. */
export const gitHub: ForgeApi = {
  forge: "github",
  page: { size: 100, parameter: "per_page" },
  keepsReviewsOnNewBase: false,
  authorization: (token) => `Bearer ${token}`,
  // Branch protection of the older kind may be read by administrators alone, and does not show here: rulesets do.
  async missing(ask, repository, branch) {
    const rules = listIn(await ask(`${repository}/rules/branches/${encodeURIComponent(branch)}?per_page=100`));
    if (rules === null) throw new ForgeUnavailable(unreadable);
    const asked = rules.filter((it) => stringAt(it, "type") === "pull_request").map((it) => memberAt(it, "parameters"));
    const has = (test: (parameters: Json) => boolean): boolean => asked.some((it) => it !== null && test(it));
    return [
      ...(has((it) => (numericAt(it, "required_approving_review_count") ?? 0) >= 1)
        ? []
        : ["a ruleset that requires a pull request with at least 1 approval"]),
      ...(has((it) => isTrueAt(it, "dismiss_stale_reviews_on_push"))
        ? []
        : ["“Dismiss stale pull request approvals when new commits are pushed”"]),
      ...(has((it) => isTrueAt(it, "require_last_push_approval"))
        ? []
        : ["“Require approval of the most recent reviewable push”"]),
    ];
  },
  // Also finds what a rebase made of a pull request's commits.
  async pulls(ask, repository, { introducer }) {
    const pulls = listIn(await ask(`${repository}/commits/${introducer}/pulls?per_page=100`));
    if (pulls === null) throw new ForgeUnavailable(unreadable);
    return pulls;
  },
  opinion(review) {
    switch (stringAt(review, "state")) {
      case "APPROVED":
        return "approved";
      case "CHANGES_REQUESTED":
      case "DISMISSED":
        return "otherwise";
      default:
        return "remark";
    }
  },
};

const unreadable =
  "the repository, or its rules, are not visible on GitHub; check --forge, and that the token in FLOTILLA_FORGE_TOKEN has read access";
