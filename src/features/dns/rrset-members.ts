import { isDeepStrictEqual } from 'node:util'
import { instant } from '../../core/clock'
import type { FieldProblem } from '../../core/problem'
import type { RrsetRow } from './zone-rows'

/** What people keep of an rrset. It is served to nobody, and is of all records of the name and type. */
export type RrsetMembers = Pick<RrsetRow, 'comment' | 'locked' | 'tags' | 'expiresAt'>

/** How members of an rrset are to be; those that are absent, and a comment that is null, stay as they are. */
export type WantedMembers = Partial<Omit<RrsetMembers, 'comment'>> & { comment: string | null }

/** What an rrset has that nobody said anything of. */
export const noMembers: RrsetMembers = { comment: '', locked: false, tags: [], expiresAt: null }

/** Members as requests and answers have them. */
export interface MembersGiven {
  comment?: string | null
  locked?: boolean | null
  tags?: string[] | null
  expires_at?: string | null
}

/** Null means what a new rrset has. */
export const wantedMembers = ({ comment, locked, tags, expires_at }: MembersGiven): WantedMembers => ({
  comment: comment === undefined ? null : (comment ?? ''),
  ...(locked !== undefined && { locked: locked ?? false }),
  ...(tags !== undefined && { tags: tags ?? [] }),
  ...(expires_at !== undefined && { expiresAt: expires_at === null ? null : Date.parse(expires_at) }),
})

export const shownMembers = ({ comment, locked, tags, expiresAt }: RrsetMembers) => ({
  comment,
  locked,
  tags,
  expires_at: expiresAt === null ? null : instant(expiresAt),
})

/** The members that an rrset has from now on. */
export const membersAfter = (wanted: WantedMembers, before: RrsetMembers = noMembers): RrsetMembers => ({
  comment: wanted.comment ?? before.comment,
  locked: wanted.locked ?? before.locked,
  tags: wanted.tags ?? before.tags,
  expiresAt: wanted.expiresAt === undefined ? before.expiresAt : wanted.expiresAt,
})

export const sameMembers = (one: RrsetMembers, other: RrsetMembers): boolean =>
  isDeepStrictEqual(shownMembers(one), shownMembers(other))

/** By what lists find the records of an rrset. */
export const marksOf = ({ locked, tags }: RrsetMembers): string[] => [...(locked ? [lockMark] : []), ...tags.map(tagMark)]
export const lockMark = 'locked'
export const tagMark = (tag: string): string => `#${tag}`

/** Milliseconds that an rrset lives at least when it is told to expire. */
export const shortestLifeMs = 60_000

/** What is wrong with members, whatever the records are. */
export function memberProblems(
  wanted: WantedMembers & { name: string; type: string; pointer: string },
  before: RrsetMembers | undefined,
  now: number,
): FieldProblem[] {
  const { name, type, expiresAt = before?.expiresAt ?? null } = wanted
  if (expiresAt === null) return []
  const pointer = `${wanted.pointer}/expires_at`
  // Also where they get it from the name that they are moved from.
  if (name === '@' && type === 'NS')
    return [{ pointer, code: 'not_allowed', detail: 'must not be set for the NS of the apex: without them there is no zone.' }]
  // What was taken once may be sent again as it is.
  if (expiresAt !== before?.expiresAt && expiresAt < now + shortestLifeMs)
    return [{ pointer, code: 'out_of_range', detail: `must be ${instant(now + shortestLifeMs)} or later: a minute from now.` }]
  return []
}

/** Why a locked rrset stays as it is. */
export const lockedProblem = ({ name, type, pointer }: { name: string; type: string; pointer: string }): FieldProblem => ({
  pointer,
  code: 'locked',
  detail: `must leave ${type} of ${name} as it is: it is locked. A PATCH of one of its records with "locked": false unlocks it.`,
})
