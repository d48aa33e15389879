import { Link, Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { chooseTabWorkspace, tabWorkspace } from '../client'
import { ApiCallsDialog } from '../parts/api-calls'
import { Dialog } from '../parts/dialog'
import { Skeleton } from '../parts/page'
import { Problem } from '../parts/problem'
import { usePreferences, usePreferredTheme, usePreferredTimes } from '../preferences'
import { personOf, useSession, type Person } from '../session'
import { useDeeds } from './deeds'
import { useKeys } from './keys'
import { KeysSheet } from './keys-sheet'
import { useLive } from './live'
import { bottomPlaces, placesFor } from './navigation'
import { Nowhere, Suspended } from './outside'
import { Palette } from './palette'
import { Brand, Side } from './side'
import { useIsSigningOut } from './sign-out'
import { Top } from './top'

/** What is around every page for people who are signed in; leads to the login when nobody is, or no longer. */
export function Shell() {
  const found = useSession()
  const navigate = useNavigate()
  const location = useLocation()
  const isOut = found.error?.status === 401
  // Removed from the workspace of this tab: any other one will do.
  const isLost = found.error?.status === 404 && tabWorkspace() !== null
  useEffect(() => {
    if (isOut) void navigate({ to: '/login', search: location.href === '/' ? {} : { to: location.href }, replace: true })
  }, [isOut])
  useEffect(() => {
    if (!isLost) return
    chooseTabWorkspace(null)
    void found.refetch()
  }, [isLost])
  usePreferredTheme()
  const isSigningOut = useIsSigningOut()
  if (isOut) return null
  if (isLost || isSigningOut) return <Skeleton />
  if (found.error && !found.data) {
    return (
      <main className="p-6">
        <Problem error={found.error} onAgain={() => void found.refetch()} />
      </main>
    )
  }
  if (!found.data) return <Skeleton />
  const person = personOf(found.data)
  if (!person) return <Nowhere email={found.data.user.email} />
  if (found.data.workspace.suspended_at) return <Suspended person={person} workspace={found.data.workspace} />
  return <Frame key={person.workspace.id} person={person} />
}

function Frame({ person }: { person: Person }) {
  const [palette, setPalette] = useState(false)
  const [sheet, setSheet] = useState(false)
  const [apiCalls, setApiCalls] = useState(false)
  const [more, setMore] = useState(false)
  const allowed = placesFor(person)
  const location = useLocation()
  const deeds = useDeeds(person, { apiCalls: () => setApiCalls(true), sheet: () => setSheet(true) })
  const { shortcuts: isKeyed = true, sidebar_collapsed: isNarrow = false } = usePreferences() ?? {}
  const times = usePreferredTimes()
  useLive(person.workspace.id)
  useKeys(allowed, { palette: () => setPalette(true), sheet: () => setSheet(true) }, isKeyed)
  useEffect(() => setMore(false), [location.pathname])
  useFocusOnPage()
  const side = { person, allowed, onApiCalls: () => setApiCalls(true), onSheet: () => setSheet(true) }
  return (
    <div className="flex min-h-dvh">
      <a
        href="#main"
        className="sr-only z-50 rounded bg-accent p-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <aside
        className={`sticky top-0 hidden h-dvh shrink-0 flex-col border-r border-line bg-surface md:flex ${isNarrow ? 'w-14' : 'w-56'}`}
      >
        <Brand narrow={isNarrow} />
        <Side {...side} narrow={isNarrow} />
      </aside>
      <div className="flex min-w-0 grow flex-col">
        <Top onPalette={() => setPalette(true)} onApiCalls={() => setApiCalls(true)} />
        <main key={times} id="main" tabIndex={-1} className="grow outline-none">
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
        <Side {...side} />
      </Dialog>
      <Palette open={palette} onClose={() => setPalette(false)} places={allowed} deeds={deeds} />
      <ApiCallsDialog open={apiCalls} onClose={() => setApiCalls(false)} />
      <KeysSheet open={sheet} onClose={() => setSheet(false)} places={allowed} />
    </div>
  )
}

// Who reads by ear, or goes by keys, goes on in the page that came. One that has put the focus into a field keeps it there.
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
