import { Link, useNavigate } from '@tanstack/react-router'
import {
  BookOpen,
  Building2,
  ChevronDown,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  PanelLeftClose,
  PanelLeftOpen,
  Sun,
  Terminal,
  User,
  type LucideIcon,
} from 'lucide-react'
import { useEffect } from 'react'
import { Menu } from '../parts/menu'
import { usePrefer } from '../preferences'
import { useOne } from '../queries'
import { useSwitch, type Person } from '../session'
import { chosenTheme, type Theme } from '../theme'
import { places, type Place } from './navigation'
import { useSignOut } from './sign-out'

interface SideProps {
  person: Person
  allowed: readonly Place[]
  /** Whether there are icons alone; absent where that cannot be chosen. */
  narrow?: boolean
  onApiCalls(): void
  onSheet(): void
}

/** The workspace, every place, and what is one's own: at the side of wide screens, behind «More» on narrow ones. */
export function Side({ person, allowed, narrow, onApiCalls, onSheet }: SideProps) {
  const isNarrow = narrow === true
  return (
    <>
      <Workspaces person={person} narrow={isNarrow} />
      <Navigation allowed={allowed} narrow={isNarrow} />
      {narrow !== undefined && <Narrowing narrow={narrow} />}
      <Own person={person} narrow={isNarrow} onApiCalls={onApiCalls} onSheet={onSheet} />
    </>
  )
}

/** The name, which leads to the overview. */
export const Brand = ({ narrow = false }: { narrow?: boolean }) => (
  <Link to="/" className={`flex h-12 items-center gap-2 font-semibold ${narrow ? 'justify-center' : 'md:px-4'}`}>
    <img src="/icon.svg" alt="" width="22" height="22" />
    <span className={narrow ? 'sr-only' : ''}>Bailiwick</span>
  </Link>
)

/** Makes the sidebar icons alone, and wide again. */
function Narrowing({ narrow }: { narrow: boolean }) {
  const prefer = usePrefer()
  const words = narrow ? 'Widen the sidebar' : 'Narrow the sidebar'
  const Icon = narrow ? PanelLeftOpen : PanelLeftClose
  return (
    <button
      type="button"
      title={words}
      aria-label={words}
      onClick={() => prefer({ sidebar_collapsed: !narrow })}
      className={`mx-2 mb-1 flex h-8 items-center rounded-md px-2 text-muted hover:bg-hover hover:text-ink ${narrow ? 'justify-center' : 'self-start'}`}
    >
      <Icon className="size-4" aria-hidden />
    </button>
  )
}

function Navigation({ allowed, narrow }: { allowed: readonly Place[]; narrow: boolean }) {
  return (
    <nav aria-label="Main" className="grow overflow-y-auto px-2 pb-2">
      {places.map(group => {
        const shown = group.places.filter(place => allowed.includes(place))
        return (
          shown.length > 0 && (
            <div key={group.label} className="mt-3 first:mt-1">
              {group.label && shown.length > 1 && (
                <p className={narrow ? 'mx-2 mb-2 border-t border-line' : 'px-2 pb-1 text-xs font-medium text-muted'}>
                  <span className={narrow ? 'sr-only' : ''}>{group.label}</span>
                </p>
              )}
              <ul>
                {shown.map(place => (
                  <li key={place.to}>
                    <Link
                      to={place.to}
                      activeOptions={{ exact: place.to === '/', includeSearch: false }}
                      title={narrow ? place.label : undefined}
                      className={`relative flex h-8 items-center gap-2 rounded-md px-2 text-muted hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent ${narrow ? 'justify-center' : ''}`}
                    >
                      <place.icon className="size-4 shrink-0" aria-hidden />
                      <span className={narrow ? 'sr-only' : 'grow'}>{place.label}</span>
                      <span className={narrow ? 'absolute -top-1 -right-1' : ''}>
                        <Count to={place.to} />
                      </span>
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
function Count({ to }: { to: string }) {
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

function Workspaces({ person, narrow }: { person: Person; narrow: boolean }) {
  const choose = useSwitch()
  const navigate = useNavigate()
  if (person.workspaces.length < 2) {
    return (
      <p
        title={narrow ? person.workspace.name : undefined}
        className={`flex items-center gap-2 truncate px-4 pb-1 text-muted max-md:px-2 ${narrow ? 'justify-center' : ''}`}
      >
        <Building2 className="size-4 shrink-0" aria-hidden />
        <span className={narrow ? 'sr-only' : ''}>{person.workspace.name}</span>
      </p>
    )
  }
  return (
    <div className="px-2 pb-1">
      <Menu
        label="Other workspaces"
        className={`flex h-9 w-full items-center gap-2 rounded-md border border-line px-2 hover:bg-hover ${narrow ? 'justify-center' : ''}`}
        items={person.workspaces.map(one => ({
          label: one.name,
          chosen: one.id === person.workspace.id,
          onSelect: () => void choose(one.id).then(() => navigate({ to: '/' })),
        }))}
      >
        <Building2 className="size-4 shrink-0 text-muted" aria-hidden />
        <span className={narrow ? 'sr-only' : 'min-w-0 grow truncate text-left'}>{person.workspace.name}</span>
        {!narrow && <ChevronDown className="size-4 shrink-0 text-muted" aria-hidden />}
      </Menu>
    </div>
  )
}

/** The themes, as one chooses them. */
export const themes: readonly (readonly [Theme, string, LucideIcon])[] = [
  ['system', 'System', Monitor],
  ['light', 'Light', Sun],
  ['dark', 'Dark', Moon],
]

function Own({ person, narrow, onApiCalls, onSheet }: Omit<SideProps, 'allowed'> & { narrow: boolean }) {
  const navigate = useNavigate()
  const prefer = usePrefer()
  const signOut = useSignOut()
  const chosen = chosenTheme()
  return (
    <div className="border-t border-line p-2">
      <Menu
        label="Profile, theme, sign out"
        className={`flex h-10 w-full items-center gap-2 rounded-md hover:bg-hover ${narrow ? 'justify-center' : 'px-2'}`}
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
            label,
            icon: <Icon className="size-4" aria-hidden />,
            chosen: theme === chosen,
            onSelect: () => prefer({ theme }),
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
        <span className={narrow ? 'sr-only' : 'min-w-0 grow truncate text-left'}>{person.name}</span>
        {!narrow && <ChevronDown className="size-4 shrink-0 text-muted" aria-hidden />}
      </Menu>
    </div>
  )
}
