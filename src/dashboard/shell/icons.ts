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
  Router,
  ServerCog,
  Settings,
  Siren,
  Users,
  Webhook,
} from 'lucide-react'

/** Icons of the pages. */
export const icons = {
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
  Router,
  ServerCog,
  Settings,
  Siren,
  Users,
  Webhook,
} as const

export type IconName = keyof typeof icons
