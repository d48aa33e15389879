import type { MemberView } from '../../../features/people/members/shapes'

/** The roles with a short description, from most to least access. */
export const roleChoices: readonly (readonly [role: MemberView['role'], label: string])[] = [
  ['owner', 'Owner: full access'],
  ['admin', 'Admin: full access, except managing owners'],
  ['member', 'Member: manage resources, view account settings'],
  ['viewer', 'Viewer: view resources only'],
]
