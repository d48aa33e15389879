import { mergePatch } from '../../core/merge-patch'
import type { RrsetOptions } from './providers/provider'

/** Options as they are kept: null when they say nothing. */
export const optionsOf = (given: RrsetOptions | null): RrsetOptions | null =>
  given && Object.values(given).some(value => value !== undefined) ? given : null

/** Options with a patch merged into them, in which null is what is left to the provider. */
export const optionsPatched = (
  kept: RrsetOptions | null,
  patch: { [option in keyof RrsetOptions]: RrsetOptions[option] | null } | null,
): RrsetOptions | null => optionsOf(patch && mergePatch({ ...kept }, patch))
