import type { ForecastEvent } from "../../core/forecast/forecast-event.ts";
import type { Forecast } from "../../core/forecast/forecast-tale.ts";
import type { Json } from "../../core/model/json.ts";
import { type Instant, instantText } from "../../core/model/value.ts";
import { reasonValues } from "../report.ts";
import { worstMoment } from "./forecast-text.ts";

/** A forecast for programs: the same facts, moments in seconds since its start, reasons as `plan` gives them. */
export function forecastValue(told: Forecast): Json {
  const { start, events, ending, end, passes, unavailable, unreached, reasons } = told;
  const after = (at: Instant): number => Math.round((at - start) / 1000);
  const moment = ({ at, clusters }: Forecast["unavailable"][number]) => ({ at: after(at), clusters: [...clusters] });
  const worst = worstMoment(told);
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
