import type { RecordResult } from '../../core/change-result'

type Parts = Pick<RecordResult<unknown>, 'audits' | 'events' | 'jobs' | 'notices' | 'wakeTopics'>

/** What a step of a change adds to it. */
export type Effects = Required<Parts>

export const joinedEffects = (...all: (Partial<Parts> | undefined)[]): Effects => ({
  audits: all.flatMap(one => one?.audits ?? []),
  events: all.flatMap(one => one?.events ?? []),
  jobs: all.flatMap(one => one?.jobs ?? []),
  notices: all.flatMap(one => one?.notices ?? []),
  wakeTopics: all.flatMap(one => one?.wakeTopics ?? []),
})
