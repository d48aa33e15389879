import { RefreshCw, WifiOff } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { isOutdated, reconnect, useUnreachableSince } from '../connection'
import { Button } from '../parts/button'
import { ElapsedTime, formatTime } from '../parts/time'

/** Above every page: that the hub can't be reached, or that the dashboard has been updated. */
export function ConnectionBanner() {
  const since = useUnreachableSince()
  const showsUpdate = isOutdated.use()
  if (since !== null) return <Unreachable since={since} />
  return showsUpdate ? (
    <Banner className="bg-accent-soft text-accent">
      <RefreshCw className="size-4 shrink-0" aria-hidden />
      <p role="status" className="min-w-0 grow basis-60">
        {updatedText}
      </p>
      <ReloadButton />
    </Banner>
  ) : null
}

// Stays in view, below the top bar on narrow screens.
const Banner = ({ className, children }: { className: string; children: ReactNode }) => (
  <div className="sticky top-12 z-20 w-full px-4 pt-3 md:top-0 md:px-6">
    <div className={`flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line px-4 py-2.5 ${className}`}>
      {children}
    </div>
  </div>
)

export const updatedText = 'Bailiwick was updated. Save your work, then reload the page to use the new version.'

export const ReloadButton = () => (
  <Button small onClick={() => location.reload()}>
    Reload
  </Button>
)

function Unreachable({ since }: { since: number }) {
  const [isRetrying, setRetrying] = useState(false)
  const retry = () => {
    setRetrying(true)
    void reconnect().finally(() => setRetrying(false))
  }
  return (
    <Banner className="bg-bad-soft text-bad">
      <WifiOff className="size-4 shrink-0" aria-hidden />
      <div className="min-w-0 grow basis-60">
        <p role="alert" className="font-medium">
          Can’t reach Bailiwick. Reconnecting…
        </p>
        <p className="text-[13px]">
          Last connected at {formatTime(since)}, <ElapsedTime at={since} /> ago. Data shown is from then or earlier.
        </p>
      </div>
      <Button small disabled={isRetrying} onClick={retry}>
        {isRetrying ? 'Retrying…' : 'Retry now'}
      </Button>
    </Banner>
  )
}
