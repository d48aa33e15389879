import { isDeepStrictEqual } from 'node:util'

type Labels = Readonly<Record<string, string>>

/** Which labels get a value, and which are removed. All others stay. */
export type LabelChange = { set: Record<string, string>; remove: readonly string[] }

/** Labels after a change. */
export const labelsAfter = (labels: Labels, { set, remove }: LabelChange): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(labels).filter(([key]) => !remove.includes(key))),
  ...set,
})

/** Whether a change has nothing to do. */
export const isLabeled = (labels: Labels, change: LabelChange): boolean => isDeepStrictEqual(labelsAfter(labels, change), labels)
