import type { ServerView } from '../../../features/servers/shapes'
import { humanize, Status, StatusIcon } from '../../parts/status'
import { relativeText, useNow } from '../../parts/time'
import { sourceTitles, toneOfServer } from './server-text'

type Observation = ServerView['observed']['status']

/** Where a value comes from, and how old it is. */
function useOrigin({ source, at, stale }: Observation): string | undefined {
  const now = useNow()
  if (source === null) return undefined
  const age = at === null ? '' : `, ${relativeText(now - new Date(at).getTime())}`
  return `${sourceTitles[source]}${age}${stale ? ' (outdated)' : ''}`
}

/** What a server is doing. */
export const ServerStatus = ({ server: { status, observed } }: { server: ServerView }) => (
  <span title={useOrigin(observed.status)}>
    <Status status={status} tone={toneOfServer(status)} />
  </span>
)

/** Whether a server is up. The reason is a tooltip. */
export const ServerHealth = ({ server: { health, health_reason: reason, observed } }: { server: ServerView }) => (
  <span title={[reason, useOrigin(observed.health)].filter(Boolean).join(' ')} className="inline-flex items-center gap-1">
    <StatusIcon status={health} /> {humanize(health)}
  </span>
)

/** Whether a server has power. */
export const ServerPower = ({ server: { power, observed } }: { server: ServerView }) => (
  <span title={useOrigin(observed.power)} className={power === 'on' ? '' : 'text-muted'}>
    {power}
  </span>
)

/** A short text about the source and age of a value. */
export const Origin = ({ of }: { of: Observation }) => {
  const text = useOrigin(of)
  return text && <span className={`text-[13px] ${of.stale ? 'text-warn' : 'text-muted'}`}>{text}</span>
}
