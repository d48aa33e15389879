import { accountActions } from '../access/audit-actions'
import {
  requestChannels,
  type AuditAction,
  type AuditActionDraft,
  type AuditActionDrafts,
  type AuditActionEntry,
} from '../core/audit-actions'
import { entryOf, plainVerbs, resourceTypes, withArticle, type PlainVerb, type registry, type ResourceType } from '../registry'
import { acmeActions } from './acme/audit-actions'
import { actionActions } from './actions/audit-actions'
import { auditStreamActions } from './audit/audit-actions'
import { calendarActions } from './calendar/audit-actions'
import { certificateActions } from './certificates/audit-actions'
import { contactActions } from './contacts/audit-actions'
import { coverageActions } from './coverage/audit-actions'
import { dnsActions } from './dns/audit-actions'
import { dynamicIpActions } from './dynamic-ips/audit-actions'
import { heartbeatActions } from './heartbeats/audit-actions'
import { incidentActions } from './incidents/audit-actions'
import { maintenanceActions } from './maintenance/audit-actions'
import { monitorActions } from './monitors/audit-actions'
import { noticeActions } from './notices/audit-actions'
import { notificationActions } from './notifications/audit-actions'
import { peopleActions } from './people/audit-actions'
import { registrarActions } from './registrars/audit-actions'
import { serverActions } from './servers/audit-actions'
import { controllerActions } from './servers/server-controllers/audit-actions'
import { domainActions } from './domains/audit-actions'
import { tlsEndpointActions } from './tls-endpoints/audit-actions'
import { webhookActions } from './webhooks/audit-actions'

const declared = {
  ...accountActions,
  ...acmeActions,
  ...actionActions,
  ...auditStreamActions,
  ...calendarActions,
  ...certificateActions,
  ...contactActions,
  ...coverageActions,
  ...dnsActions,
  ...dynamicIpActions,
  ...heartbeatActions,
  ...incidentActions,
  ...maintenanceActions,
  ...monitorActions,
  ...noticeActions,
  ...notificationActions,
  ...peopleActions,
  ...registrarActions,
  ...serverActions,
  ...controllerActions,
  ...tlsEndpointActions,
  ...domainActions,
  ...webhookActions,
}

/** The actions that follow from the registry. */
type PlainAction = PlainActionOf<(typeof registry)[ResourceType]>
type PlainActionOf<Entry> = Entry extends { audit: infer Audit extends { prefix: string } }
  ? `${Audit['prefix']}.${keyof Audit & PlainVerb}`
  : never

declare module '../core/declared' {
  interface Declared {
    auditAction: PlainAction | keyof typeof declared
  }
}

type OtherAction = Exclude<keyof typeof declared, PlainAction>

const drafts: AuditActionDrafts = declared satisfies Record<OtherAction, { number: string; description: string }>

const plainDrafts: AuditActionDrafts = Object.fromEntries(
  resourceTypes.flatMap(type => {
    const { audit } = entryOf(type)
    return plainVerbs.flatMap(verb => (audit?.[verb] ? [[`${audit.prefix}.${verb}`, plainDraft(type, verb)]] : []))
  }),
)

function plainDraft(type: ResourceType, verb: PlainVerb): AuditActionDraft {
  const { name, plural, audit } = entryOf(type)
  const { prefix, update, [verb]: number } = audit!
  if (verb === 'bulk') {
    const description = `A bulk change of ${plural} was denied. Successful changes have their own events.`
    return { number, description, phrase: `change several ${plural} at once`, targets: [] }
  }
  const [first, ...rest] = `${withArticle(name)} was ${verb}d.`
  const created = drafts[`${prefix}.create`]?.example
  return {
    number,
    description: first!.toUpperCase() + rest.join(''),
    phrase: `${verb} {${type}}`,
    changes: { of: `${prefix}.${update ? 'update' : 'create'}` },
    ...(verb === 'delete' && created && { example: { before: created.after, after: {} } }),
  }
}

function actionEntry(action: string): AuditActionEntry {
  const { changes, phrase, sentence, ...draft } = { ...plainDrafts[action], ...drafts[action] }
  const targets = draft.targets ?? targetsOf(action)
  return {
    action,
    number: '',
    description: '',
    channels: requestChannels,
    example: null,
    ...draft,
    targets,
    sentences: sentence
      ? { success: sentence, failure: sentence, denied: sentence }
      : sentencesOf(phrase ?? `${action.slice(action.lastIndexOf('.') + 1).replaceAll('_', ' ')} {${targets[0]}}`),
    changes:
      changes === undefined
        ? null
        : changes === 'response'
          ? { responseOf: action, fields: {} }
          : { responseOf: changes.of ?? null, fields: changes.fields ?? {} },
  }
}

/** @param phrase starts with a verb in the base form */
function sentencesOf(phrase: string): AuditActionEntry['sentences'] {
  const [verb, ...rest] = phrase.split(' ')
  return {
    success: ['{actor}', pastTense(verb!), ...rest].join(' '),
    failure: `{actor} failed to ${phrase}`,
    denied: `{actor} was not allowed to ${phrase}`,
  }
}

const irregular: Readonly<Record<string, string>> = {
  read: 'read',
  rebuild: 'rebuilt',
  resend: 'resent',
  reset: 'reset',
  run: 'ran',
  send: 'sent',
  shut: 'shut',
}

const pastTense = (verb: string): string => {
  if (irregular[verb]) return irregular[verb]
  if (verb.endsWith('e')) return `${verb}d`
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}ied`
  // A single vowel before a single final consonant: “scan” becomes “scanned”, but “check” and “open” stay.
  return /^[^aeiou]*[aeiou][^aeiouwxy]$/.test(verb) ? `${verb}${verb.at(-1)}ed` : `${verb}ed`
}

function targetsOf(action: string): string[] {
  const prefix = action.slice(0, action.lastIndexOf('.'))
  const type = resourceTypes.find(one => entryOf(one).audit?.prefix === prefix)
  return type ? [type, ...(entryOf(type).audit?.parents ?? [])] : []
}

/** All actions, as listed in the catalog, by their numbers. */
export const auditActions = Object.keys({ ...plainDrafts, ...drafts })
  .map(actionEntry)
  .sort((a, b) => (a.number < b.number ? -1 : 1)) as readonly AuditActionEntry<AuditAction>[]

/** The six-character code of an action and its outcome, such as `HB001S`; null for an action of an earlier version. */
export function codeOf(action: string, outcome: 'success' | 'failure' | 'denied'): string | null {
  const number = numbers.get(action)
  return number === undefined ? null : `${number}${outcome[0]!.toUpperCase()}`
}

const numbers: ReadonlyMap<string, string> = new Map(auditActions.map(one => [one.action, one.number]))
