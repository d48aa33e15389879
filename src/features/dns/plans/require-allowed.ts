import { invalid, Problem } from '../../../core/problem'
import type { BlockCode, BlockReason } from './guards'

/**
 * Requires that every reason is explicitly allowed by its code, with a note.
 * @param fields extra fields of the problem
 * @returns the overridden codes, for the audit log
 * @throws Problem 409 `plan_blocked` with the remaining reasons; 422 without a note
 */
export function requireAllowed(
  reasons: readonly BlockReason[],
  input: { allow?: readonly BlockCode[]; note?: string },
  fields: Record<string, unknown> = {},
  pointer = '#/note',
): BlockCode[] {
  const remaining = reasons.filter(one => !input.allow?.includes(one.code))
  if (remaining.length > 0)
    throw new Problem(
      'plan_blocked',
      `${remaining.map(one => one.detail).join(' ')} Allow each reason by its code and add a note, or make a smaller change.`,
      {
        fields: { ...fields, reasons: remaining },
      },
    )
  if (reasons.length > 0 && !input.note?.trim())
    throw invalid([{ pointer, code: 'required', detail: 'is required when you allow a reason. It is stored in the audit log.' }])
  return [...new Set(reasons.map(one => one.code))]
}
