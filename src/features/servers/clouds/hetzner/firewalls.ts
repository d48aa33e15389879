import { readNumberedPages } from '../../../../adapters/numbered-pages'
import { isObject } from '../../../../dns/octets'
import { HetznerError, type HetznerApi } from '../../../../vendors/hetzner'
import { isSameSet, type PlainRule, type RuleProtocol } from '../../firewalls/rules'
import { markLabel } from '../../labels'
import {
  CloudError,
  type AdapterContext,
  type CloudFirewall,
  type FirewallDetachment,
  type FirewallOutcome,
  type FirewallReading,
  type OrderedFirewall,
} from '../cloud'
import { perPage } from './catalog'
import { textsOf } from './readings'

interface Row extends FirewallReading {
  hetznerId: number
  labels: Record<string, string>
  /** Whether it is applied to anything, also by a label. */
  isUsed: boolean
}

const allPorts = '1-65535'
const everything = ['tcp', 'udp', 'icmp', 'esp', 'gre'] as const satisfies readonly RuleProtocol[]
const hasPorts = (protocol: string) => protocol === 'tcp' || protocol === 'udp'

/** The rules that Hetzner needs: one per protocol, because it has none for all, and one per port. Rules without networks allow nothing. */
export const hetznerRules = (rules: readonly PlainRule[]): PlainRule[] =>
  rules
    .filter(rule => rule.networks.length > 0)
    .flatMap(rule =>
      (rule.protocol === 'any' ? everything : [rule.protocol]).flatMap(protocol =>
        (hasPorts(protocol) ? (rule.ports.length > 0 ? rule.ports : [allPorts]) : [null]).map(port => ({
          ...rule,
          protocol,
          ports: port === null ? [] : [port],
        })),
      ),
    )

const maxRules = 50

/** @throws CloudError for rules that Hetzner can't have */
function rulesFor(firewall: OrderedFirewall): PlainRule[] {
  if (firewall.rules.some(one => one.action === 'block'))
    throw new CloudError('invalid', 'Firewalls at Hetzner can’t block networks.', null, false)
  const rules = hetznerRules(firewall.rules)
  if (rules.length <= maxRules) return rules
  throw new CloudError(
    'invalid',
    `A firewall at Hetzner can have ${maxRules} rules, but it would need ${rules.length}: one for each port and protocol.`,
    null,
    false,
  )
}

/** Firewalls of a project. Each is one object, with a label that tells whose it is. */
export class HetznerFirewalls {
  constructor(
    private readonly api: HetznerApi,
    private readonly around: AdapterContext,
  ) {}

  /** Makes one change per call, because Hetzner refuses another one while it works on the first. */
  async set(firewall: CloudFirewall): Promise<FirewallOutcome> {
    const rules = rulesFor(firewall)
    const row = await this.#find(firewall.id)
    if (!row) {
      // Before it is applied, so that one server that can't have it doesn't prevent the others.
      await this.#create(firewall, rules)
      return applying
    }
    if (!row.isMarked)
      await this.api.send('PUT', `/firewalls/${row.hetznerId}`, { labels: { ...row.labels, [markLabel]: firewall.id } })
    if (!isSameSet(row.rules, rules)) {
      await this.api.send('POST', `/firewalls/${row.hetznerId}/actions/set_rules`, { rules: rules.map(asSent) })
      return applying
    }
    const extra = row.refs.filter(ref => firewall.detach.some(one => one.ref === ref))
    if (extra.length > 0) {
      await this.api.send('POST', `/firewalls/${row.hetznerId}/actions/remove_from_resources`, {
        remove_from: extra.map(resource),
      })
      return applying
    }
    const missing = firewall.refs.filter(ref => !row.refs.includes(ref))
    const { refused, isChanged } = await this.#apply(row.hetznerId, missing)
    if (isChanged) return { ...applying, refused }
    const { actions } = await this.api.get(`/firewalls/${row.hetznerId}/actions?status=running`)
    return { state: Array.isArray(actions) && actions.length > 0 ? 'applying' : 'applied', refused, warnings: [] }
  }

  /** The ids of firewalls for the order of a server. Those that don't exist are created. */
  async idsFor(firewalls: readonly OrderedFirewall[]): Promise<number[]> {
    const ids: number[] = []
    for (const one of firewalls) ids.push((await this.#find(one.id))?.hetznerId ?? (await this.#create(one, rulesFor(one))))
    return ids
  }

  async remove(id: string, detach: readonly FirewallDetachment[]): Promise<boolean> {
    const row = await this.#find(id)
    if (!row) return true
    const extra = row.refs.filter(ref => detach.some(one => one.ref === ref))
    if (extra.length > 0) {
      await this.api.send('POST', `/firewalls/${row.hetznerId}/actions/remove_from_resources`, {
        remove_from: extra.map(resource),
      })
      return false
    }
    if (!row.isUsed) await this.api.send('DELETE', `/firewalls/${row.hetznerId}`)
    return true
  }

  /** Also reads firewalls without their mark, which someone may have removed. */
  async read(ids: readonly string[]): Promise<Row[]> {
    const all = await readNumberedPages(
      this.around.clock,
      page => this.api.page('/firewalls?sort=id', 'firewalls', page, perPage),
      { isById: true },
    )
    const rows = all.filter(one => ids.includes(idOf(one) ?? '')).map(rowOf)
    const marked = new Set(rows.filter(one => one.isMarked).map(one => one.id))
    return rows.filter(one => one.isMarked || !marked.has(one.id))
  }

  async #create({ id, name }: OrderedFirewall, rules: readonly PlainRule[]): Promise<number> {
    const { firewall } = await this.api.send('POST', '/firewalls', {
      // The id tells whose it is, if someone removes the mark.
      name: `${name.slice(0, 80)} (${id})`,
      labels: { [markLabel]: id },
      rules: rules.map(asSent),
    })
    return rowOf(isObject(firewall) ? firewall : {}).hetznerId
  }

  async #find(id: string): Promise<Row | null> {
    const selector = encodeURIComponent(`${markLabel}=${id}`)
    const { rows } = await this.api.page(`/firewalls?label_selector=${selector}&sort=id`, 'firewalls', 1, perPage)
    if (rows.length > 0) return rowOf(rows[0]!)
    return (await this.read([id]))[0] ?? null
  }

  /** Applies a firewall to servers: at once, or if Hetzner refuses that, to those that it doesn’t refuse. */
  async #apply(hetznerId: number, refs: readonly string[]): Promise<{ refused: FirewallOutcome['refused']; isChanged: boolean }> {
    const refused: FirewallOutcome['refused'] = []
    if (refs.length === 0) return { refused, isChanged: false }
    try {
      await this.api.send('POST', `/firewalls/${hetznerId}/actions/apply_to_resources`, { apply_to: refs.map(resource) })
      return { refused, isChanged: true }
    } catch (error) {
      if (!(error instanceof HetznerError) || !isFinal.has(error.failure)) throw error
      if (refs.length === 1) return { refused: [{ ref: refs[0]!, detail: error.message }], isChanged: false }
    }
    for (const ref of refs) {
      const one = await this.#apply(hetznerId, [ref])
      refused.push(...one.refused)
      // The next call applies it to the others.
      if (one.isChanged) return { refused, isChanged: true }
    }
    return { refused, isChanged: false }
  }
}

const applying: FirewallOutcome = { state: 'applying', refused: [], warnings: [] }
const isFinal: ReadonlySet<string> = new Set(['refused', 'invalid', 'quota', 'not_found'])

const resource = (ref: string) => ({ type: 'server', server: { id: Number(ref) } })

const asSent = ({ id, direction, protocol, ports, networks }: PlainRule) => ({
  direction,
  protocol,
  ...(ports.length > 0 && { port: ports[0] }),
  source_ips: direction === 'in' ? networks : [],
  destination_ips: direction === 'out' ? networks : [],
  description: id,
})

/** The id of our firewall; null for those of others. */
function idOf({ labels, name }: Record<string, unknown>): string | null {
  const { [markLabel]: mark } = textsOf(labels)
  return mark ?? /\((fw_[0-9a-z]{26})\)$/.exec(String(name))?.[1] ?? null
}

function rowOf(row: Record<string, unknown>): Row {
  const { id, labels, rules, applied_to } = row
  const own = idOf(row)
  if (typeof id !== 'number' || own === null || !Array.isArray(rules) || !Array.isArray(applied_to))
    throw new CloudError('invalid_response', 'The response of Hetzner has no firewall.')
  const appliedTo = applied_to.filter(isObject)
  return {
    id: own,
    hetznerId: id,
    labels: textsOf(labels),
    isMarked: textsOf(labels)[markLabel] !== undefined,
    rules: rules.map(ruleOf),
    // Hetzner has no default that can be changed.
    changedDefaults: [],
    refs: appliedTo.flatMap(({ server }) => (isObject(server) ? [String(server.id)] : [])),
    isUsed: appliedTo.length > 0,
  }
}

function ruleOf(rule: unknown): PlainRule {
  const { direction, protocol, port, source_ips, destination_ips, description } = isObject(rule) ? rule : {}
  const networks = direction === 'out' ? destination_ips : source_ips
  if ((direction !== 'in' && direction !== 'out') || typeof protocol !== 'string' || !Array.isArray(networks))
    throw new CloudError('invalid_response', 'The response of Hetzner has a rule in an unknown form.')
  return {
    id: typeof description === 'string' ? description : '',
    direction,
    protocol: protocol as RuleProtocol,
    ports: typeof port === 'string' ? [port] : [],
    networks: networks.map(String),
  }
}
