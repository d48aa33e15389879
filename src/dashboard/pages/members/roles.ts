import type { MemberView } from '../../../access/member-shapes'

/** The roles, from the one that may most to the one that may least, with what each may. */
export const roleChoices: readonly (readonly [role: MemberView['role'], label: string])[] = [
  ['owner', 'Owner: everything'],
  ['admin', 'Admin: everything but touching owners'],
  ['member', 'Member: everything but the account'],
  ['viewer', 'Viewer: reads'],
]
