import { Link } from '@tanstack/react-router'
import { Search, Terminal } from 'lucide-react'
import { useUnreachableSince } from '../connection'
import { Button } from '../parts/button'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { showApiCalls } from './api-calls'
import { liveState } from './live'
import { Brand } from './sidebar'

/** The bar above every page: search, live status, and unread notices. */
export const TopBar = ({ onPalette }: { onPalette(): void }) => (
  <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-surface px-4 md:static md:border-0 md:bg-transparent md:px-0">
    <div className="md:hidden">
      <Brand />
    </div>
    <div className="flex w-full items-center gap-2 md:px-6">
      <button
        type="button"
        onClick={onPalette}
        className="ml-auto flex h-8 items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-muted hover:bg-hover md:ml-0 md:w-72"
      >
        <Search className="size-4" aria-hidden />
        <span className="hidden grow text-left md:inline">Search or jump to…</span>
        <span className="sr-only md:hidden">Search or jump to…</span>
        <kbd className="hidden text-xs md:inline">Ctrl K</kbd>
      </button>
      <span className="hidden grow md:block" />
      <LiveStatus />
      <UnreadNotices />
      <Button small kind="quiet" icon={Terminal} onClick={showApiCalls}>
        <span className="hidden sm:inline">API calls</span>
        <span className="sr-only sm:hidden">API calls</span>
      </Button>
    </div>
  </header>
)

function LiveStatus() {
  const stream = liveState.use()
  const state = useUnreachableSince() === null ? stream : 'disconnected'
  const label = { live: 'Live', connecting: 'Connecting…', polling: 'Polling every 15 s', disconnected: 'Disconnected' }[state]
  const mark = { live: 'bg-ok-mark', connecting: 'bg-warn-mark', polling: 'bg-idle-mark', disconnected: 'bg-bad-mark' }[state]
  return (
    <span role="status" className="flex items-center gap-1.5 text-[13px] text-muted">
      <span className={`size-2 ${state === 'live' ? 'rounded-full' : 'rounded-xs'} ${mark}`} aria-hidden />
      <span className="max-sm:sr-only">{label}</span>
    </span>
  )
}

function UnreadNotices() {
  const { data } = useOne<{ pagination: { total?: number } }>(
    usePerson().canReadAccount ? '/notices' : null,
    { read: false, limit: 1, include: 'total' },
    { refetchMs: 60_000 },
  )
  const count = data?.pagination.total ?? 0
  if (count === 0) return null
  return (
    <Link to="/notices" className="rounded-md px-2 py-1 text-[13px] text-accent hover:bg-hover">
      {count} unread {count === 1 ? 'notice' : 'notices'}
    </Link>
  )
}
