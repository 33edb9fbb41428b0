/** One thing that people do in a fleet at rest, and everything that follows from it until nothing is left to do. */
export interface Story {
  readonly name: string;
  /** Steps, one a line: what there is before. It is pushed, and comes to rest undisturbed. */
  readonly given: string;
  /** Steps, one a line: the edit that the story is about. It is pushed. */
  readonly edit: string;
  /** Nobody takes it back: halfway, two placements would want the same until somebody creates another run. */
  readonly stands?: true;
}

/** The namespace `shop` is on m3 before anybody places it, so that it is taken over, and given back in the end. */
const fleet = `
  guards objects=2 clusters=4
  cluster name=m1 words=env=prod
  cluster name=m2 words=env=prod
  cluster name=m3 words=env=dev
  cluster name=m4 words=env=dev
  meddle name=m3 how=create object="Namespace shop" value=1`;

const placed = `
  manifest object="Namespace web" value=1
  manifest object="ConfigMap web/config" value=1
  manifest object="ConfigMap web/extra" value=1
  manifest object="Deployment web/app" value=1
  override name=more object="Namespace web" label=env=dev value=one
  placement name=web policy=PickAll options=unavailable=2
  manifest object="Namespace shop" value=1
  manifest object="ConfigMap shop/config" value=1
  placement name=shop policy="PickN 2" options=""`;

/** A team that places what is in `web`, beside whoever places that namespace alone. */
const withTeam = `
  placement name=web policy=PickAll options="only=web unavailable=2"
  placement name=web/team policy=PickAll options=unavailable=2`;

/** Deployments take a while on two of the four members, so that passes find things half done. */
const slowly = `
  pace name=m1 ms=1500
  pace name=m3 ms=1500`;

const everything = `${fleet}\n${placed}`;

/** `pool` can go to a placement that only runs move. */
const staged = `
  manifest object="Namespace slow" value=1
  manifest object="Namespace pool" value=1
  manifest object="ConfigMap pool/config" value=1
  strategy name=rings stages="dev:env=dev prod:env=prod/1"
  placement name=slow policy=PickAll options="ns=slow external"
  run name=first placement=slow strategy=rings index="" state=Run`;

/**
 * What happens to a small fleet in its life: together they have every kind of effect that there is.
 *
 * Within the bounds lie the deletion of one ConfigMap and the removal of `shop`; beyond them lies the removal of `web`,
 * which people confirm.
 */
export const stories: readonly Story[] = [
  { name: "members join", given: "guards objects=2 clusters=4", edit: fleet },
  { name: "new placements", given: fleet, edit: `${slowly}\n${placed}` },
  {
    name: "a ConfigMap and a Deployment edited",
    given: everything,
    edit: `${slowly}
      manifest object="ConfigMap web/config" value=2
      manifest object="Deployment web/app" value=2`,
  },
  {
    name: "objects that go into envelopes, change in them and come out of them",
    given: `${everything}
      manifest object="ConfigMap web/extra" value=1w
      manifest object="ConfigMap shop/config" value=1w`,
    edit: `${slowly}
      manifest object="ConfigMap web/config" value=2w
      manifest object="Deployment web/app" value=2w
      manifest object="ConfigMap web/extra" value=1
      manifest object="ConfigMap shop/config" value=2w`,
  },
  {
    name: "an override edited, and one in a namespace added that wins over it",
    given: everything,
    edit: `override name=more object="Namespace web" label=env=dev value=two
      override name=own object="ConfigMap web/config" label=env=dev value=three`,
  },
  {
    name: "a placement in quarantine for a while",
    given: everything,
    edit: `${slowly}
      plant placement=shop
      manifest object="ConfigMap web/config" value=2
      manifest object="ConfigMap shop/config" value=2`,
  },
  { name: "a manifest removed", given: everything, edit: "erase path=resources/configmap-web-extra.yaml" },
  { name: "a cluster leaves", given: everything, edit: "erase path=clusters/m4.yaml" },
  {
    name: "a placement moves",
    given: everything,
    edit: `placement name=shop policy="PickN 1 env=prod" options=""`,
  },
  {
    name: "a placement renamed",
    given: everything,
    edit: `erase path=placements/web.yaml
      placement name=next policy=PickAll options="ns=web unavailable=2"`,
  },
  {
    name: "objects that go to a placement whose run brings them, stage by stage",
    given: `${everything}\n${staged}\nplacement name=web policy=PickAll options="ns=web,pool unavailable=2"`,
    edit: `placement name=web policy=PickAll options="ns=web unavailable=2"
      placement name=slow policy=PickAll options="ns=slow,pool external"
      run name=second placement=slow strategy=rings index="" state=Run`,
    stands: true,
  },
  {
    name: "objects that come from a placement which only runs move, stage by stage",
    given: `${everything}\n${staged}\nplacement name=slow policy=PickAll options="ns=slow,pool external"`,
    edit: `placement name=slow policy=PickAll options="ns=slow external"
      placement name=web policy=PickAll options="ns=web,pool unavailable=2"
      run name=second placement=slow strategy=rings index="" state=Run`,
    stands: true,
  },
  {
    name: "a team's placement and that of its namespace, with an override of either, begin",
    given: fleet,
    edit: `${slowly}\n${placed}\n${withTeam}
      override name=own object="ConfigMap web/config" label=env=dev value=three`,
  },
  {
    name: "what a team places, edited, and then the namespace's own placement has it",
    given: `${everything}\n${withTeam}`,
    edit: `${slowly}
      manifest object="ConfigMap web/config" value=2
      manifest object="Deployment web/app" value=2
      erase path=placements/web/team.yaml
      placement name=web policy=PickAll options=unavailable=2`,
  },
  {
    name: "a team takes over what the placement of its namespace had",
    given: everything,
    edit: `${slowly}${withTeam}`,
  },
  { name: "a placement removed, beyond the bounds", given: everything, edit: "erase path=placements/web.yaml" },
  {
    name: "a placement removed that took over what was there",
    given: everything,
    edit: "erase path=placements/shop.yaml",
  },
  {
    name: "a placement removed that lets go",
    given: `${everything}\nplacement name=shop policy="PickN 2" options=abandon`,
    edit: "erase path=placements/shop.yaml",
  },
];
