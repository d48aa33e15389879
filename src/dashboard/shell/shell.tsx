import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import {
  BookOpen,
  Building2,
  Check,
  ChevronDown,
  Keyboard,
  LogOut,
  Menu as MenuIcon,
  Monitor,
  Moon,
  Search,
  Sun,
  Terminal,
  User,
  type LucideIcon,
} from 'lucide-react'
import { useEffect, useState } from 'react'
import { ApiCallsDialog } from '../parts/api-calls'
import { Button } from '../parts/button'
import { Dialog } from '../parts/dialog'
import { Menu } from '../parts/menu'
import { Skeleton } from '../parts/page'
import { Problem } from '../parts/problem'
import { queries, useOne, useSend } from '../queries'
import { personOf, useSession, useSwitch, type Person } from '../session'
import { chooseTheme, chosenTheme, type Theme } from '../theme'
import { keys, useKeys } from './keys'
import { useLive, useLiveState } from './live'
import { bottomPlaces, places, placesFor, type Place } from './navigation'
import { Palette, type Deed } from './palette'

/** What is around every page for people who are signed in; leads to the login when nobody is. */
export function Shell() {
  const found = useSession()
  const navigate = useNavigate()
  const location = useLocation()
  const isOut = found.error?.status === 401
  useEffect(() => {
    if (isOut) void navigate({ to: '/login', search: location.href === '/' ? {} : { to: location.href }, replace: true })
  }, [isOut])
  if (isOut) return null
  if (found.error && !found.data) {
    return (
      <main className="p-6">
        <Problem error={found.error} onAgain={() => void found.refetch()} />
      </main>
    )
  }
  const person = found.data && personOf(found.data)
  if (found.data && !person) return <Nowhere />
  if (!person) return <Skeleton />
  return <Frame key={person.workspace.id} person={person} />
}

function Frame({ person }: { person: Person }) {
  const [palette, setPalette] = useState(false)
  const [sheet, setSheet] = useState(false)
  const [apiCalls, setApiCalls] = useState(false)
  const [more, setMore] = useState(false)
  const allowed = placesFor(person)
  const signOut = useSignOut()
  const location = useLocation()
  useLive(person.workspace.id)
  useKeys(allowed, { palette: () => setPalette(true), sheet: () => setSheet(true) })
  useEffect(() => setMore(false), [location.pathname])
  const navigate = useNavigate()
  const go = (to: string, label: string, icon: LucideIcon): Deed => ({ label, icon, run: () => void navigate({ to }) })
  const find = (to: string) => places.flatMap(group => group.places).find(one => one.to === to)!.icon
  const deeds: Deed[] = [
    ...(person.mayWrite
      ? [
          go('/monitors/new', 'New monitor', find('/monitors')),
          go('/heartbeats/new', 'New heartbeat', find('/heartbeats')),
          go('/maintenance/new', 'New maintenance window', find('/maintenance')),
          go('/webhooks/new', 'New webhook endpoint', find('/webhooks')),
        ]
      : []),
    { label: 'As API calls', icon: Terminal, run: () => setApiCalls(true) },
    { label: 'Keys', icon: Keyboard, run: () => setSheet(true) },
    ...themes.map(([theme, label, icon]) => ({ label: `Theme: ${label.toLowerCase()}`, icon, run: () => chooseTheme(theme) })),
    go('/profile', 'Your profile', User),
    { label: 'Sign out', icon: LogOut, run: signOut },
  ]
  return (
    <div className="flex min-h-dvh">
      <a
        href="#main"
        className="sr-only z-50 rounded bg-accent p-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <aside className="sticky top-0 hidden h-dvh w-56 shrink-0 flex-col border-r border-line bg-surface md:flex">
        <Brand />
        <Workspaces person={person} />
        <Navigation person={person} allowed={allowed} />
        <SideFoot person={person} signOut={signOut} onApiCalls={() => setApiCalls(true)} onSheet={() => setSheet(true)} />
      </aside>
      <div className="flex min-w-0 grow flex-col">
        <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-surface px-4 md:static md:border-0 md:bg-transparent md:px-0">
          <div className="md:hidden">
            <Brand />
          </div>
          <div className="mx-auto flex w-full max-w-7xl items-center gap-2 md:px-6">
            <button
              type="button"
              onClick={() => setPalette(true)}
              className="ml-auto flex h-8 items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-muted hover:bg-hover md:ml-0 md:w-72"
            >
              <Search className="size-4" aria-hidden />
              <span className="hidden grow text-left md:inline">Go to, find, do</span>
              <span className="sr-only md:hidden">Go to, find, do</span>
              <kbd className="hidden text-xs md:inline">Ctrl K</kbd>
            </button>
            <span className="hidden grow md:block" />
            <LiveSign />
            <Unread />
            <Button small kind="quiet" icon={<Terminal className="size-4" aria-hidden />} onClick={() => setApiCalls(true)}>
              <span className="hidden sm:inline">as API call</span>
              <span className="sr-only sm:hidden">as API call</span>
            </Button>
          </div>
        </header>
        <main id="main" tabIndex={-1} className="grow outline-none">
          <Outlet />
        </main>
      </div>
      <nav
        aria-label="Main, short"
        className="fixed inset-x-0 bottom-0 z-20 flex border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
      >
        {allowed
          .filter(place => bottomPlaces.includes(place.to))
          .map(place => (
            <Link
              key={place.to}
              to={place.to}
              activeOptions={{ exact: place.to === '/' }}
              className="flex grow flex-col items-center gap-0.5 py-2 text-xs text-muted data-[status=active]:text-accent"
            >
              <place.icon className="size-5" aria-hidden />
              {place.label}
            </Link>
          ))}
        <button
          type="button"
          onClick={() => setMore(true)}
          className="flex grow flex-col items-center gap-0.5 py-2 text-xs text-muted"
        >
          <MenuIcon className="size-5" aria-hidden />
          More
        </button>
      </nav>
      <Dialog open={more} onClose={() => setMore(false)} title="Bailiwick">
        <Workspaces person={person} />
        <Navigation person={person} allowed={allowed} />
        <SideFoot person={person} signOut={signOut} onApiCalls={() => setApiCalls(true)} onSheet={() => setSheet(true)} />
      </Dialog>
      <Palette open={palette} onClose={() => setPalette(false)} places={allowed} deeds={deeds} />
      <ApiCallsDialog open={apiCalls} onClose={() => setApiCalls(false)} />
      <Sheet open={sheet} onClose={() => setSheet(false)} places={allowed} />
    </div>
  )
}

const Brand = () => (
  <Link to="/" className="flex h-12 items-center gap-2 font-semibold md:px-4">
    <img src="/icon.svg" alt="" width="22" height="22" />
    Bailiwick
  </Link>
)

function Navigation({ person, allowed }: { person: Person; allowed: readonly Place[] }) {
  return (
    <nav aria-label="Main" className="grow overflow-y-auto px-2 pb-2">
      {places.map(group => {
        const shown = group.places.filter(place => allowed.includes(place))
        return (
          shown.length > 0 && (
            <div key={group.label} className="mt-3 first:mt-1">
              {group.label && shown.length > 1 && <p className="px-2 pb-1 text-xs font-medium text-muted">{group.label}</p>}
              <ul>
                {shown.map(place => (
                  <li key={place.to}>
                    <Link
                      to={place.to}
                      activeOptions={{ exact: place.to === '/', includeSearch: false }}
                      className="flex h-8 items-center gap-2 rounded-md px-2 text-muted hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent"
                    >
                      <place.icon className="size-4 shrink-0" aria-hidden />
                      <span className="grow">{place.label}</span>
                      <Count to={place.to} person={person} />
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          )
        )
      })}
    </nav>
  )
}

/** How many open incidents there are, beside their place. */
function Count({ to }: { to: string; person: Person }) {
  const { data } = useOne<{ pagination: { total?: number } }>(
    to === '/incidents' ? '/incidents' : null,
    { status: 'open', limit: 1, include: 'total' },
    { everyMs: 60_000 },
  )
  const count = data?.pagination.total ?? 0
  useEffect(() => {
    if (to === '/incidents') showInTab(count)
  }, [to, count])
  return count > 0 ? (
    <span className="rounded-full bg-bad-soft px-1.5 text-xs font-medium text-bad">
      {count}
      <span className="sr-only"> open</span>
    </span>
  ) : null
}

// The tab says that something is wrong while one looks at another.
function showInTab(count: number): void {
  document.querySelector<HTMLLinkElement>('link[rel=icon]')!.href = count > 0 ? '/icon-bad.svg' : '/icon.svg'
}

function Workspaces({ person }: { person: Person }) {
  const choose = useSwitch()
  const navigate = useNavigate()
  if (person.workspaces.length < 2) {
    return (
      <p className="flex items-center gap-2 truncate px-4 pb-1 text-muted max-md:px-2">
        <Building2 className="size-4 shrink-0" aria-hidden />
        {person.workspace.name}
      </p>
    )
  }
  return (
    <div className="px-2 pb-1">
      <Menu
        label="Other workspaces"
        className="flex h-9 w-full items-center gap-2 rounded-md border border-line px-2 hover:bg-hover"
        items={person.workspaces.map(one => ({
          label: one.name,
          icon: <Check className={`size-4 ${one.id === person.workspace.id ? '' : 'invisible'}`} aria-hidden />,
          onSelect: () => void choose(one.id).then(() => navigate({ to: '/' })),
        }))}
      >
        <Building2 className="size-4 shrink-0 text-muted" aria-hidden />
        <span className="min-w-0 grow truncate text-left">{person.workspace.name}</span>
        <ChevronDown className="size-4 shrink-0 text-muted" aria-hidden />
      </Menu>
    </div>
  )
}

const themes: readonly (readonly [Theme, string, LucideIcon])[] = [
  ['system', 'System', Monitor],
  ['light', 'Light', Sun],
  ['dark', 'Dark', Moon],
]

interface SideFootProps {
  person: Person
  signOut(): void
  onApiCalls(): void
  onSheet(): void
}

function SideFoot({ person, signOut, onApiCalls, onSheet }: SideFootProps) {
  const navigate = useNavigate()
  const chosen = chosenTheme()
  return (
    <div className="border-t border-line p-2">
      <Menu
        label="Profile, theme, sign out"
        className="flex h-10 w-full items-center gap-2 rounded-md px-2 hover:bg-hover"
        items={[
          {
            label: 'Your profile',
            icon: <User className="size-4" aria-hidden />,
            onSelect: () => void navigate({ to: '/profile' }),
          },
          { label: 'Handbook', icon: <BookOpen className="size-4" aria-hidden />, onSelect: () => location.assign('/docs') },
          { label: 'As API calls', icon: <Terminal className="size-4" aria-hidden />, onSelect: onApiCalls },
          { label: 'Keys', icon: <Keyboard className="size-4" aria-hidden />, onSelect: onSheet },
          '-',
          ...themes.map(([theme, label, Icon]) => ({
            label: theme === chosen ? `${label} (chosen)` : label,
            icon: <Icon className="size-4" aria-hidden />,
            onSelect: () => chooseTheme(theme),
          })),
          '-',
          { label: 'Sign out', icon: <LogOut className="size-4" aria-hidden />, onSelect: signOut },
        ]}
      >
        <span
          className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
          aria-hidden
        >
          {person.name.slice(0, 1).toUpperCase()}
        </span>
        <span className="min-w-0 grow truncate text-left">{person.name}</span>
        <ChevronDown className="size-4 shrink-0 text-muted" aria-hidden />
      </Menu>
    </div>
  )
}

function LiveSign() {
  const state = useLiveState()
  const words = { live: 'Live', connecting: 'Connecting', polling: 'Looking every 15 s' }[state]
  const mark = { live: 'bg-ok-mark', connecting: 'bg-warn-mark', polling: 'bg-idle-mark' }[state]
  return (
    <span role="status" className="flex items-center gap-1.5 text-[13px] text-muted">
      <span className={`size-2 ${state === 'live' ? 'rounded-full' : 'rounded-xs'} ${mark}`} aria-hidden />
      <span className="max-sm:sr-only">{words}</span>
    </span>
  )
}

function Unread() {
  const { data } = useOne<{ pagination: { total?: number } }>(
    '/notices',
    { read: false, limit: 1, include: 'total' },
    { everyMs: 60_000 },
  )
  const count = data?.pagination.total ?? 0
  if (count === 0) return null
  return (
    <Link to="/notices" className="rounded-md px-2 py-1 text-[13px] text-accent hover:bg-hover">
      {count} {count === 1 ? 'notice' : 'notices'}
    </Link>
  )
}

function Sheet({ open, onClose, places: shown }: { open: boolean; onClose(): void; places: readonly Place[] }) {
  const lines = [...keys, ...shown.filter(one => one.letter).map(one => [`g ${one.letter}`, one.label] as const)]
  return (
    <Dialog open={open} onClose={onClose} title="Keys">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        {lines.map(([what, does]) => (
          <div key={what} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-canvas px-1.5 py-0.5 font-mono text-[13px]">{what}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

/** What a person sees who belongs to no workspace any more. */
function Nowhere() {
  const signOut = useSignOut()
  return (
    <main className="mx-auto max-w-md p-8 text-center">
      <h1 className="text-lg font-semibold">You are in no workspace</h1>
      <p className="mt-2 mb-4 text-muted">Whoever runs one can invite you to it.</p>
      <Button onClick={signOut}>Sign out</Button>
    </main>
  )
}

function useSignOut(): () => void {
  const navigate = useNavigate()
  const send = useSend({
    onDone: () => {
      void navigate({ to: '/login' }).then(() => queries.clear())
    },
  })
  return () => send.mutate({ method: 'DELETE', path: '/sessions' })
}
