import { invalid, Problem } from '../../../core/problem'
import type { BlockCode, BlockReason } from './guards'

/**
 * Holds reasons against those that a person overrides, each by its code and with a note.
 * @param members told beside the reasons
 * @returns the codes that were overridden, for the audit log
 * @throws Problem 409 `plan_blocked` for the others; 422 without a note
 */
export function allowing(
  reasons: readonly BlockReason[],
  given: { allow?: readonly BlockCode[]; note?: string },
  members: Record<string, unknown> = {},
  pointer = '#/note',
): BlockCode[] {
  const left = reasons.filter(one => !given.allow?.includes(one.code))
  if (left.length > 0)
    throw new Problem(
      'plan_blocked',
      `${left.map(one => one.detail).join(' ')} Allow each reason by its code, with a note, or change less.`,
      {
        members: { ...members, reasons: left },
      },
    )
  if (reasons.length > 0 && !given.note?.trim())
    throw invalid([{ pointer, code: 'required', detail: 'is required where a reason is allowed: it is kept in the audit log.' }])
  return [...new Set(reasons.map(one => one.code))]
}
