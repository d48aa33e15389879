import type { AgentReport } from '../wire/agent'

/** What has happened on the server, which is reported once. */
export type ReportNews = Pick<AgentReport, 'moments' | 'events'>

/** A report has at most this many of each, and as many wait as happen in hours. */
const perReport = { moments: 10, events: 50 }
const maxWaiting = { moments: 100, events: 500 }

/** Moments and events that the hub has not acknowledged. They are lost if the agent stops before. */
export class News {
  private moments: NonNullable<AgentReport['moments']> = []
  private events: NonNullable<AgentReport['events']> = []

  add({ moments = [], events = [] }: ReportNews): void {
    this.moments = [...this.moments, ...moments].slice(-maxWaiting.moments)
    this.events = [...this.events, ...events].slice(-maxWaiting.events)
  }

  /** The oldest ones, for a report. */
  next(): ReportNews {
    const moments = this.moments.slice(0, perReport.moments)
    const events = this.events.slice(0, perReport.events)
    return { ...(moments.length > 0 && { moments }), ...(events.length > 0 && { events }) }
  }

  /** Forgets those of a report that the hub acknowledged. */
  remove({ moments = [], events = [] }: ReportNews): void {
    this.moments = this.moments.filter(one => !moments.includes(one))
    this.events = this.events.filter(one => !events.includes(one))
  }
}
