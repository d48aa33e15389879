import type { LucideIcon } from 'lucide-react'
import { isVisibleTo, labelOf, pageList, type DeclaredPage } from '../../pages'
import type { Person } from '../../session'
import { icons } from '../icons'

/** A page, or a section of one. */
interface Place {
  to: string
  /** Id of the section. */
  hash?: string
  label: string
  /** The page above it. */
  detail?: string
  kind: 'Page' | 'Action' | 'Settings'
  icon: LucideIcon
  /** Other words by which it is found. */
  keywords?: string
  /** Whether it is shown before anything is typed. */
  isMain?: boolean
}

/** Settings in sections of pages and in tabs. */
const sections: readonly (Pick<Place, 'to' | 'hash' | 'label' | 'keywords'> & {
  in: string
  visibleTo?: DeclaredPage['visibleTo']
})[] = [
  { to: '/profile', hash: 'details', label: 'Name and email', in: 'Your profile' },
  { to: '/profile', hash: 'password', label: 'Password', in: 'Your profile', keywords: 'change' },
  {
    to: '/profile',
    hash: 'preferences',
    label: 'Preferences',
    in: 'Your profile',
    keywords: 'settings theme dark time zone format density keyboard shortcuts',
  },
  {
    to: '/profile',
    hash: 'one-time-codes',
    label: 'One-time codes',
    in: 'Your profile',
    keywords: 'two-factor authentication 2FA TOTP',
  },
  { to: '/profile', hash: 'passkeys', label: 'Passkeys', in: 'Your profile', keywords: 'security key WebAuthn' },
  { to: '/profile', hash: 'sessions', label: 'Sessions', in: 'Your profile', keywords: 'devices sign out' },
  { to: '/operator/workspaces', label: 'Workspaces', in: 'Installation', visibleTo: 'operator' },
  { to: '/operator/plans', label: 'Plans', in: 'Installation', keywords: 'limits', visibleTo: 'operator' },
  { to: '/operator/deprecations', label: 'Deprecations', in: 'Installation', visibleTo: 'operator' },
]

/** The pages and settings that a user may open. */
export const placesFor = (person: Person): Place[] => [
  ...pageList
    .filter(one => one.title !== undefined && !one.path.includes('$') && isVisibleTo(person, one))
    .map((one): Place => {
      const isAction = one.path.endsWith('/new')
      const isMain = one.group !== undefined
      const label = one.quickAction ?? (isMain ? one.title! : labelOf(one.path))
      return {
        to: one.path,
        label,
        kind: isAction ? 'Action' : 'Page',
        icon: iconAt(one.path),
        isMain: isMain || one.quickAction !== undefined,
        ...(one.tab && !isMain && { detail: one.title! }),
      }
    })
    .toSorted((a, b) => Number(a.kind === 'Action') - Number(b.kind === 'Action')),
  ...sections
    .filter(one => isVisibleTo(person, one))
    .map(({ in: detail, ...one }): Place => ({ ...one, detail, kind: 'Settings', icon: icons.Settings })),
]

/** The icon of a page, or of the page above it in the sidebar. */
export function iconAt(path: string): LucideIcon {
  const own = pageList.find(one => one.icon && one.path === path)
  const above = pageList.find(one => one.icon && one.path !== '/' && path.startsWith(one.path))
  return icons[(own ?? above)?.icon ?? 'Settings']
}
