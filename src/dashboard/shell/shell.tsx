import { Link, Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { useEffect } from 'react'
import { useUnreachableSince } from '../connection'
import { prefetchCode } from '../lazy'
import { setTabWorkspace, tabWorkspace } from '../client'
import { OpenDialog, openDialog } from '../parts/open-dialog'
import { Skeleton } from '../parts/page'
import { Problem } from '../parts/problem'
import { usePreferences, usePreferredTheme, useTimePreferences } from '../preferences'
import { setOpenedBy } from '../recently-opened'
import { personOf, useSession, type Person } from '../session'
import { useUserActions } from './quick-actions'
import { useShortcuts } from './shortcuts'
import { showShortcuts } from './shortcuts-dialog'
import { useLiveUpdates } from './live'
import { ConnectionBanner } from './connection-banner'
import { isVisibleTo, pageList } from '../pages'
import { NoWorkspace, SuspendedWorkspace } from './no-access'
import { openPalette } from './palette'
import { Brand, PageIcon, Sidebar } from './sidebar'
import { useIsSigningOut } from './sign-out'
import { TopBar } from './top-bar'

/** Layout around every page for signed-in users. Redirects to the sign-in page if there is no session. */
export function Shell() {
  const session = useSession()
  const navigate = useNavigate()
  const location = useLocation()
  const isSignedOut = session.error?.status === 401
  // The user was removed from the workspace of this tab. Fall back to another one.
  const wasRemoved = session.error?.status === 404 && tabWorkspace() !== null
  useEffect(() => {
    if (isSignedOut) void navigate({ to: '/login', search: location.href === '/' ? {} : { to: location.href }, replace: true })
  }, [isSignedOut])
  useEffect(() => {
    if (!wasRemoved) return
    setTabWorkspace(null)
    void session.refetch()
  }, [wasRemoved])
  usePreferredTheme()
  const isSigningOut = useIsSigningOut()
  if (isSignedOut) return null
  if (wasRemoved || isSigningOut) return <Skeleton />
  if (session.error && !session.data) {
    return (
      <main className="p-6">
        <Problem error={session.error} onRetry={() => void session.refetch()} />
      </main>
    )
  }
  if (!session.data) return <Skeleton />
  const person = personOf(session.data)
  if (!person) return <NoWorkspace email={session.data.user.email} />
  if (session.data.workspace.suspended_at) return <SuspendedWorkspace person={person} workspace={session.data.workspace} />
  return <Frame key={person.workspace.id} person={person} />
}

function Frame({ person }: { person: Person }) {
  const allowed = pageList.filter(one => one.group !== undefined && isVisibleTo(person, one))
  const { shortcuts: shortcutsEnabled = true, sidebar_collapsed: isCollapsed = false } = usePreferences() ?? {}
  const shortcuts = () => showShortcuts(allowed, shortcutsEnabled)
  const actions = useUserActions(shortcuts)
  const timeKey = useTimePreferences()
  setOpenedBy(person.id, person.workspace.id)
  useLiveUpdates(person.workspace.id)
  const palette = () => openPalette(actions.flat())
  useShortcuts(allowed, { palette, shortcuts }, shortcutsEnabled)
  useFocusOnPage()
  useEffect(prefetchCode, [])
  const isUnreachable = useUnreachableSince() !== null
  const sidebar = { person, allowed, actions }
  return (
    <div className="flex min-h-dvh">
      <a
        href="#main"
        className="sr-only z-50 rounded bg-accent p-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <aside
        className={`sticky top-0 hidden h-dvh shrink-0 flex-col border-r border-line bg-surface md:flex ${isCollapsed ? 'w-14' : 'w-56'}`}
      >
        <Brand collapsed={isCollapsed} />
        <Sidebar {...sidebar} collapsed={isCollapsed} />
      </aside>
      <div className="flex min-w-0 grow flex-col">
        <TopBar onPalette={palette} />
        <ConnectionBanner />
        <main key={timeKey} id="main" tabIndex={-1} data-stale={isUnreachable || undefined} className="grow outline-none">
          <Outlet />
        </main>
      </div>
      <nav
        aria-label="Bottom navigation"
        className="fixed inset-x-0 bottom-0 z-20 flex border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
      >
        {allowed
          .filter(item => item.inBottomBar)
          .map(item => (
            <Link
              key={item.path}
              to={item.path}
              activeOptions={{ exact: item.path === '/' }}
              className="flex grow flex-col items-center gap-0.5 py-2 text-xs text-muted data-[status=active]:text-accent"
            >
              <PageIcon page={item} className="size-5" />
              {item.title}
            </Link>
          ))}
        <button
          type="button"
          onClick={() => openDialog({ title: 'Bailiwick', content: <Sidebar {...sidebar} /> })}
          className="flex grow flex-col items-center gap-0.5 py-2 text-xs text-muted"
        >
          <MenuIcon className="size-5" aria-hidden />
          More
        </button>
      </nav>
      <OpenDialog />
    </div>
  )
}

// Moves the focus to the new page, for screen reader and keyboard users. Keeps it if the page has focused a field.
function useFocusOnPage(): void {
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged }) => {
        const main = document.getElementById('main')
        if (pathChanged && main && !main.contains(document.activeElement)) main.focus({ preventScroll: true })
      }),
    [router],
  )
}
