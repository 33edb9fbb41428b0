import type { Json } from "../model/json.ts";
import { type DurationMs, type Instant, instantOf, instantText, shortDuration } from "../model/value.ts";
import { quantity, someNames } from "../report/phrases.ts";
import { reasonLines, reasonValues } from "../report/reason-lines.ts";
import { taskEventText } from "../rollout/tasks/tasks.ts";
import type { ForecastEvent } from "./events.ts";
import type { Ending, Forecast } from "./timeline.ts";

/** A forecast for people: its events, one line per moment and kind, and the result. Times count from its start. */
export function forecastLines(forecast: Forecast): readonly string[] {
  const all = timeline(forecast);
  const lines = all.length > linesKept ? [...all.slice(0, linesKept), `and ${all.length - linesKept} more`] : all;
  return [...(lines.length === 0 ? [] : [...lines, ""]), ...summary(forecast)];
}

/** A rollout to a thousand clusters, one at a time, has a few thousand. */
const linesKept = 1000;

/** `+1h0m30s`: how long after the start. */
const offset = (at: Instant, start: Instant): string => `+${shortDuration((at - start) as DurationMs)}`;

function timeline({ events, start }: Forecast): readonly string[] {
  const rows = grouped(events).map((it) => [offset((it[0] as ForecastEvent).at, start), wordsOf(it, start)] as const);
  const width = Math.max(0, ...rows.map(([at]) => at.length));
  return rows.map(([at, text]) => `${at.padEnd(width)}  ${text}`);
}

/** Clusters with the same event at the same moment in the same stage share a line. */
function grouped(events: readonly ForecastEvent[]): readonly (readonly ForecastEvent[])[] {
  const groups: ForecastEvent[][] = [];
  let last = "";
  for (const event of events) {
    const { cluster, ...rest } = { cluster: null, ...event };
    const key = JSON.stringify(rest);
    const group = groups.at(-1);
    if (cluster !== null && key === last && group !== undefined) group.push(event);
    else groups.push([event]);
    last = cluster === null ? "" : key;
  }
  return groups;
}

function wordsOf(group: readonly ForecastEvent[], start: Instant): string {
  const event = group[0] as ForecastEvent;
  const all = someNames(group.flatMap((it) => ("cluster" in it ? it.cluster : [])));
  const verb = (one: string, many: string): string => (group.length === 1 ? one : many);
  switch (event.kind) {
    case "planned": {
      const { resourceIndex, clusters, stages, deletions } = event;
      const leaving = deletions === 0 ? "" : `, removed from ${quantity(deletions, "cluster")}`;
      return `planned: resource snapshot ${resourceIndex} on ${quantity(clusters, "cluster")} in ${quantity(stages, "stage")}${leaving}`;
    }
    case "stageBegins":
      return `stage ${event.stage} begins`;
    case "stageEnds":
      return `stage ${event.stage} ends`;
    case "starts":
      return `  ${all} ${verb("starts", "start")}`;
    case "lands":
      return `  ${all} ${verb("is", "are")} available`;
    case "fails":
      return `  ${all} ${verb("fails", "fail")}: ${event.because}`;
    case "skipped":
      return `  ${all} ${verb("is", "are")} skipped: ${event.because}`;
    case "leaves":
      return `  removal from ${all} begins`;
    case "gone":
      return `  removed from ${all}`;
    case "holds":
      return `${event.stage === null ? "the run" : `stage ${event.stage}`} is held up: ${relative(event.because, start)}`;
    case "succeeded":
      return "the run succeeds";
    case "failed":
      return `the run fails: ${relative(event.because, start)}`;
    default:
      return taskEventText(event, { at: event.at, offset: (it) => offset(it, start) });
  }
}

function summary(forecast: Forecast): readonly string[] {
  const { start, end, ending, events, passes, unreached, reasons } = forecast;
  if (ending.kind === "done" && events.length === 0) return ["nothing happens: everything is up to date"];
  const how = `${endings[ending.kind]} ${offset(end, start)}, after ${passes} ${passes === 1 ? "pass" : "passes"}`;
  return [
    "next" in ending ? `${how}; next at ${offset(ending.next, start)}` : how,
    radius(forecast),
    ...(unreached.length === 0 ? [] : [`never reached: ${someNames(unreached)}`]),
    ...(ending.kind === "done" ? [] : reasonLines(reasons, "foretold").map((it) => relative(it, start))),
  ];
}

const endings: Readonly<Record<Ending["kind"], string>> = {
  done: "earliest end:",
  failed: "fails at",
  waits: "comes to rest at",
  time: "not finished within the forecast time; last event at",
  passes: "given up while still in progress; last event at",
  refused: "refused after",
  unsound: "unsound after",
};

/** The first moment with the most unavailable clusters. */
function worstMoment({ unavailable }: Forecast): Forecast["unavailable"][number] | null {
  return unavailable.reduce<Forecast["unavailable"][number] | null>(
    (worst, it) => (it.clusters.length > (worst?.clusters.length ?? 0) ? it : worst),
    null,
  );
}

function radius(forecast: Forecast): string {
  const worst = worstMoment(forecast);
  if (worst === null) return "blast radius: none";
  const after = forecast.unavailable[forecast.unavailable.indexOf(worst) + 1];
  const span = `from ${offset(worst.at, forecast.start)}${after === undefined ? " on" : ` to ${offset(after.at, forecast.start)}`}`;
  return `blast radius: ${quantity(worst.clusters.length, "cluster")} not available at once, ${span}: ${someNames(worst.clusters)}`;
}

/** A sentence with its instants relative to the start, to the second; earlier ones stay as they are. */
const relative = (text: string, start: Instant): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (written) => {
    const at = instantOf(written);
    const isBefore = at === null || at + 1000 <= start;
    return isBefore ? written : offset(Math.max(at, start) as Instant, start);
  });

/** A forecast for programs: the same facts, moments in seconds since its start, reasons as `plan` gives them. */
export function forecastValue(forecast: Forecast): Json {
  const { start, events, ending, end, passes, unavailable, unreached, reasons } = forecast;
  const after = (at: Instant): number => Math.round((at - start) / 1000);
  const moment = ({ at, clusters }: Forecast["unavailable"][number]) => ({ at: after(at), clusters: [...clusters] });
  const worst = worstMoment(forecast);
  return {
    start: instantText(start),
    ending: ending.kind,
    next: ending.kind === "time" ? after(ending.next) : null,
    end: after(end),
    passes,
    events: events.map((it) => eventValue(it, after)),
    unavailable: unavailable.map(moment),
    mostUnavailable: worst === null ? null : moment(worst),
    unreached: [...unreached],
    reasons: reasonValues(reasons),
  };
}

function eventValue(event: ForecastEvent, after: (at: Instant) => number): Json {
  const { at, ...facts } = event;
  return { at: after(at), ...facts, ...("until" in facts ? { until: after(facts.until) } : {}) };
}
