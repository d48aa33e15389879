import type { AuditActionView, AuditEventView } from '../../features/audit/shapes'
import { entryOfId, registry, withArticle } from '../../registry'
import type { Page } from '../client'
import { resourcePath } from '../pages'
import { useOne } from '../queries'
import { actorName } from './actor'
import { ResourceLink } from './resource'
import { capitalize, humanize } from './status'

type Catalog = ReadonlyMap<string, Pick<AuditActionView, 'action' | 'description' | 'sentences'>>

/** All actions of the audit log by their names; undefined until they have loaded. */
export function useAuditCatalog(): Catalog | undefined {
  const { data } = useOne<Page<AuditActionView>>('/audit-events/catalog', { fields: 'action,description,sentences' })
  return data && new Map(data.data.map(one => [one.action, one]))
}

type SentenceEvent = Pick<AuditEventView, 'action' | 'outcome' | 'actor' | 'targets'>

/** What happened: “Ada updated the DNS record www.example.com A”. Empty until the actions have loaded. @param linked whether names link to their pages */
export function AuditSentence({ event, linked }: { event: SentenceEvent; linked?: boolean }) {
  const catalog = useAuditCatalog()
  return (
    catalog &&
    segmentsOf(event, catalog).map(({ text, isName, target }, at) =>
      linked && target && resourcePath(target.id) !== null ? (
        <ResourceLink key={at} {...target} />
      ) : isName ? (
        <span key={at} className="font-semibold">
          {text}
        </span>
      ) : (
        text
      ),
    )
  )
}

/** The first target with a name. Plans, for example, have none, but their zone is a target too. */
export const mainTarget = ({ targets }: AuditEventView) => targets.find(one => one.name) ?? targets[0]

/** The sentence as plain text. */
export const sentenceOf = (event: SentenceEvent, catalog: Catalog): string =>
  segmentsOf(event, catalog)
    .map(one => one.text)
    .join('')

type Target = AuditEventView['targets'][number]

interface Segment {
  text: string
  isName?: boolean
  /** What it is the name of. */
  target?: Target
}

function segmentsOf({ action, outcome, actor, targets }: SentenceEvent, catalog: Catalog): Segment[] {
  // An earlier version may have recorded actions that this one doesn't have.
  const template = catalog.get(action)?.sentences[outcome] ?? `{actor}: ${action}`
  const [first, ...rest] = template
    .split(/\{(\w+)\}/)
    .flatMap((part, at) => {
      if (at % 2 === 0) return [{ text: part }]
      if (part === 'actor') return actorSegments(actor)
      const target = targets.find(one => one.type === part)
      // A dynamic IP source, for example, reports its own addresses.
      if (target && target.id === actor.id && template.includes('{actor}')) return [{ text: 'itself' }]
      return named(part in registry ? registry[part as keyof typeof registry].name : humanize(part), target)
    })
    .filter(one => one.text !== '')
  return [{ ...first!, text: first!.isName ? first!.text : capitalize(first!.text) }, ...rest]
}

const named = (noun: string, target: Pick<Target, 'name'> | undefined): Segment[] =>
  target?.name
    ? [{ text: `the ${noun} ` }, { text: target.name, isName: true, ...('id' in target && { target: target as Target }) }]
    : [{ text: withArticle(noun) }]

function actorSegments(actor: AuditEventView['actor']): Segment[] {
  const { type, id, name } = actor
  if (type === 'user' || type === 'system') return [{ text: actorName(actor), isName: true }]
  if (type === 'token') return named('token', { name })
  if (type === 'operator' || type === 'anonymous') return [{ text: withArticle(actorName(actor)) }]
  const noun = entryOfId(id)?.name ?? 'URL'
  // Alerts link to pages where their recipients act without an account.
  const text = noun === 'heartbeat' ? 'a ping of ' : noun === registry.notification_channel.name ? 'a recipient of ' : ''
  return [{ text }, ...named(noun, { name })].filter(one => one.text !== '')
}
