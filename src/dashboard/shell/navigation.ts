import {
  Activity,
  Bell,
  CalendarClock,
  CircleGauge,
  CreditCard,
  FileClock,
  Globe,
  HeartPulse,
  KeyRound,
  ListChecks,
  Megaphone,
  Radio,
  ServerCog,
  Settings,
  Siren,
  Users,
  Webhook,
  type LucideIcon,
} from 'lucide-react'
import type { Person } from '../session'

export interface Place {
  to: string
  label: string
  icon: LucideIcon
  /** Letter that leads here after `g`. */
  letter?: string
  /** Who sees it; everybody when absent. */
  for?: (person: Person) => boolean
}

/** What the side of the page lists, by groups. The palette and the keys know the same places. */
export const places: readonly { label: string; places: readonly Place[] }[] = [
  { label: '', places: [{ to: '/', label: 'Overview', icon: CircleGauge, letter: 'o' }] },
  {
    label: 'Monitoring',
    places: [
      { to: '/monitors', label: 'Monitors', icon: Activity, letter: 'm' },
      { to: '/heartbeats', label: 'Heartbeats', icon: HeartPulse, letter: 'h' },
      { to: '/incidents', label: 'Incidents', icon: Siren, letter: 'i' },
      { to: '/maintenance', label: 'Maintenance', icon: CalendarClock, letter: 'c' },
      { to: '/channels', label: 'Channels', icon: Megaphone, letter: 'n' },
    ],
  },
  { label: 'DNS', places: [{ to: '/dns', label: 'DNS', icon: Globe, letter: 'd' }] },
  {
    label: 'Integration',
    places: [
      { to: '/webhooks', label: 'Webhooks', icon: Webhook, letter: 'w' },
      { to: '/events', label: 'Events', icon: Radio, letter: 'e' },
      { to: '/tokens', label: 'Tokens', icon: KeyRound, letter: 't', for: one => one.seesAccount },
      { to: '/actions', label: 'Actions', icon: ListChecks },
    ],
  },
  {
    label: 'Workspace',
    places: [
      { to: '/audit', label: 'Audit log', icon: FileClock, letter: 'a', for: one => one.seesAccount },
      { to: '/notices', label: 'Notices', icon: Bell, for: one => one.seesAccount },
      { to: '/members', label: 'Members', icon: Users, for: one => one.seesAccount },
      { to: '/plan', label: 'Plan and limits', icon: CreditCard, for: one => one.seesAccount },
      { to: '/settings', label: 'Settings', icon: Settings, letter: 's', for: one => one.seesAccount },
      { to: '/operator', label: 'Installation', icon: ServerCog, for: one => one.operator },
    ],
  },
]

/** The places a person may go to. */
export const placesFor = (person: Person): Place[] =>
  places.flatMap(group => group.places).filter(place => place.for?.(person) ?? true)

/** What phones have at the lower edge; the rest is behind «More». */
export const bottomPlaces = ['/', '/monitors', '/incidents', '/dns']
