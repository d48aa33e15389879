import { isDeepStrictEqual } from 'node:util'
import { instant } from '../../../core/clock'
import type { FieldProblem } from '../../../core/problem'
import type { RrsetRow } from './rows'
import { mergePatch } from '../../../core/merge-patch'
import type { RrsetOptions } from '../providers/provider'

/** Metadata of an rrset. It isn’t served, and applies to all records of the name and type. */
export type RrsetMetadata = Pick<RrsetRow, 'comment' | 'locked' | 'tags' | 'expiresAt'>

/** Metadata to set. Undefined fields and a null comment leave the current value unchanged. */
export type WantedMetadata = Partial<Omit<RrsetMetadata, 'comment'>> & { comment: string | null }

/** Metadata of a new rrset. */
export const defaultMetadata: RrsetMetadata = { comment: '', locked: false, tags: [], expiresAt: null }

/** Metadata as in API requests. */
interface MetadataInput {
  comment?: string | null
  locked?: boolean | null
  tags?: string[] | null
  expires_at?: string | null
}

/** Parses metadata from a request. Null resets a field to its default. */
export const wantedMetadata = ({ comment, locked, tags, expires_at }: MetadataInput): WantedMetadata => ({
  comment: comment === undefined ? null : (comment ?? ''),
  ...(locked !== undefined && { locked: locked ?? false }),
  ...(tags !== undefined && { tags: tags ?? [] }),
  ...(expires_at !== undefined && { expiresAt: expires_at === null ? null : Date.parse(expires_at) }),
})

export const metadataView = ({ comment, locked, tags, expiresAt }: RrsetMetadata) => ({
  comment,
  locked,
  tags,
  expires_at: expiresAt === null ? null : instant(expiresAt),
})

/** The metadata of an rrset after a change. */
export const metadataAfter = (wanted: WantedMetadata, before: RrsetMetadata = defaultMetadata): RrsetMetadata => ({
  comment: wanted.comment ?? before.comment,
  locked: wanted.locked ?? before.locked,
  tags: wanted.tags ?? before.tags,
  expiresAt: wanted.expiresAt === undefined ? before.expiresAt : wanted.expiresAt,
})

export const sameMetadata = (one: RrsetMetadata, other: RrsetMetadata): boolean =>
  isDeepStrictEqual(metadataView(one), metadataView(other))

/** Marks that lists use to find the records of an rrset. */
export const marksOf = ({ locked, tags }: RrsetMetadata): string[] => [...(locked ? [lockMark] : []), ...tags.map(tagMark)]
export const lockMark = 'locked'
export const tagMark = (tag: string): string => `#${tag}`

/** Minimum time until an rrset may expire, in ms. */
export const minLifetimeMs = 60_000

/** Validates metadata. */
export function metadataProblems(
  wanted: WantedMetadata & { name: string; type: string; pointer: string },
  before: RrsetMetadata | undefined,
  now: number,
): FieldProblem[] {
  const { name, type, expiresAt = before?.expiresAt ?? null } = wanted
  if (expiresAt === null) return []
  const pointer = `${wanted.pointer}/expires_at`
  // Also applies if the expiry is inherited from the name that records are moved from.
  if (name === '@' && type === 'NS')
    return [{ pointer, code: 'not_allowed', detail: 'is not allowed for the NS records at the apex, which the zone needs.' }]
  // An unchanged value may be sent again, even if it is less than a minute away.
  if (expiresAt !== before?.expiresAt && expiresAt < now + minLifetimeMs)
    return [
      {
        pointer,
        code: 'out_of_range',
        detail: `must be at least one minute in the future (${instant(now + minLifetimeMs)} or later).`,
      },
    ]
  return []
}

/** The problem reported when a change touches a locked rrset. */
export const lockedProblem = ({ name, type, pointer }: { name: string; type: string; pointer: string }): FieldProblem => ({
  pointer,
  code: 'locked',
  detail: `The ${type} records of ${name} are locked. Unlock them first: set \`locked\` to false.`,
})

/** Options as stored: null if empty. */
export const optionsOf = (input: RrsetOptions | null): RrsetOptions | null =>
  input && Object.values(input).some(value => value !== undefined) ? input : null

/** Merges a patch into options. Null lets the provider decide. */
export const optionsPatched = (
  stored: RrsetOptions | null,
  patch: { [option in keyof RrsetOptions]: RrsetOptions[option] | null } | null,
): RrsetOptions | null => optionsOf(patch && mergePatch({ ...stored }, patch))
