import { isObject } from '../../../../dns/octets'
import type { PlainRule, RuleProtocol } from '../../firewalls/rules'
import { CloudError, type CloudFirewall, type FirewallDetachment, type FirewallOutcome, type FirewallReading } from '../cloud'
import { NodeUnreachable, type ProxmoxClient } from './client'
import { configOf, filteringOptions, type Config } from './config'
import { pathOf, type Guest, type Inventory } from './guests'

/** A rule of a guest. */
interface GuestRule {
  pos: number
  /** Identifies the state of all rules that it was read with. */
  digest: string | undefined
  /** Id of our firewall; null for the rules of others. */
  mark: string | null
  isEnabled: boolean
  rule: PlainRule
}

/** What the adapter reads of Proxmox for firewalls. */
interface Guests {
  inventory(): Promise<Inventory>
  configOf(guest: Guest): Promise<Config>
  configure(guest: Guest, options: Record<string, string>): Promise<void>
}

// Lists of addresses have at most 512 characters; lists of ports at most 15 ports, where a range counts twice.
const maxListLength = 512
const maxPortsPerRule = 7
const maxRounds = 1000

/** Rules as Proxmox has them: their lists are short, and don’t mix families. Rules without networks allow nothing. */
export const proxmoxRules = (rules: readonly PlainRule[]): PlainRule[] =>
  rules.flatMap(rule =>
    [4, 6].flatMap(family =>
      listsOf(rule.networks.filter(one => one.includes(':') === (family === 6))).flatMap(networks =>
        (rule.ports.length === 0 ? [[]] : chunksOf(rule.ports, maxPortsPerRule)).map(ports => ({ ...rule, ports, networks })),
      ),
    ),
  )

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))

function listsOf(networks: readonly string[]): string[][] {
  const lists: string[][] = []
  for (const one of networks) {
    const last = lists.at(-1)
    if (last && [...last, one].join(',').length <= maxListLength) last.push(one)
    else lists.push([one])
  }
  return lists
}

/** The firewalls of guests: their rules, with our mark in the comment. There is no call that sets all rules at once. */
export class ProxmoxFirewalls {
  constructor(
    private readonly client: ProxmoxClient,
    private readonly guests: Guests,
  ) {}

  async set(firewall: CloudFirewall): Promise<FirewallOutcome> {
    const { guests, online } = await this.guests.inventory()
    const reachable = new Set(online)
    const unreached: Unreached = []
    const outcome: FirewallOutcome = { state: 'applied', refused: [], warnings: [], unreached }
    const isOff = await this.#isOffEverywhere()
    for (const ref of firewall.refs) {
      const guest = guests.find(one => String(one.vmid) === ref && !one.template)
      if (!guest) {
        outcome.refused.push({ ref, detail: 'The guest doesn’t exist.' })
        continue
      }
      await atNode(guest, reachable, unreached, async () => {
        const isEffective = firewall.effectiveOn?.includes(ref) ?? false
        await this.#setRules(guest, firewall.id, proxmoxRules(firewall.rules))
        if (isEffective) await this.#filterInterfaces(guest)
        const detail = isOff
          ? 'The firewall of the datacenter is off, so the rules have no effect. Enable it in Datacenter, Firewall, Options.'
          : await this.#unfilteredInterface(guest)
        if (detail !== null) (isEffective && !isOff ? outcome.refused : outcome.warnings).push({ ref, detail })
      })
    }
    // A new guest can have the VMID of a deleted one.
    const detach = firewall.detach.filter(one => !firewall.refs.includes(one.ref))
    await this.#removeFromAll(firewall.id, detach, guests, reachable, unreached)
    return outcome
  }

  async remove(id: string, detach: readonly FirewallDetachment[]): Promise<Pick<FirewallOutcome, 'state' | 'unreached'>> {
    const { guests, online } = await this.guests.inventory()
    const unreached: Unreached = []
    await this.#removeFromAll(id, detach, guests, new Set(online), unreached)
    return { state: 'applied', unreached }
  }

  async #removeFromAll(
    id: string,
    detach: readonly FirewallDetachment[],
    guests: readonly Guest[],
    reachable: Set<string>,
    unreached: Unreached,
  ): Promise<void> {
    for (const guest of guests) {
      const found = detach.find(one => one.ref === String(guest.vmid))
      if (found) await atNode(guest, reachable, unreached, () => this.#removeFrom(guest, id, found.hasOthers))
    }
  }

  /** A firewall has an entry for each guest, whose rules can differ. */
  async read(
    firewalls: readonly Pick<CloudFirewall, 'id' | 'refs'>[],
  ): Promise<{ firewalls: FirewallReading[]; unread: string[] }> {
    const { guests, online } = await this.guests.inventory()
    const reachable = new Set(online)
    const found = { firewalls: [] as FirewallReading[], unread: [] as string[] }
    for (const ref of new Set(firewalls.flatMap(one => one.refs))) {
      const guest = guests.find(one => String(one.vmid) === ref)
      if (!guest) continue
      const readings = reachable.has(guest.node) ? await this.#readGuest(guest, firewalls) : null
      if (readings) found.firewalls.push(...readings)
      else {
        // Others of the node would only take as long.
        reachable.delete(guest.node)
        found.unread.push(ref)
      }
    }
    return found
  }

  /** Reads the firewalls of a guest; null if its node is not reached. */
  async #readGuest(guest: Guest, firewalls: readonly Pick<CloudFirewall, 'id' | 'refs'>[]): Promise<FirewallReading[] | null> {
    try {
      const options = await this.#options(guest)
      if (options.enable !== 1) return []
      const rules = await this.#rules(guest)
      const wanted = policiesFor(rules)
      const changedDefaults = (['in', 'out'] as const).filter(one => policyOf(options, one) !== wanted[one])
      const ref = String(guest.vmid)
      return (
        firewalls
          .filter(one => one.refs.includes(ref))
          .map(({ id }) => ({
            id,
            isMarked: true,
            refs: [ref],
            changedDefaults,
            rules: effective(rules, id).map(one => one.rule),
          }))
          // The policy is all that there is of a firewall without rules.
          .filter(one => one.rules.length > 0 || !changedDefaults.includes('in'))
      )
    } catch (error) {
      if (error instanceof NodeUnreachable) return null
      throw error
    }
  }

  /**
   * Adds what is missing, sets the policies for what remains, and then deletes what is too much. New rules come first, and blocks must come
   * before all others.
   */
  async #setRules(guest: Guest, id: string, wanted: readonly PlainRule[]): Promise<void> {
    const path = `${pathOf(guest)}/firewall/rules`
    const there = effective(await this.#rules(guest), id)
    const missing = wanted.filter(rule => !there.some(one => isSame(one.rule, rule)))
    for (const rule of missing) if (isBlock(rule)) await this.client.change('POST', path, { ...asSent(id, rule), enable: 1 })
    const hasBlocks = (await this.#rules(guest)).some(isActiveBlock)
    for (const rule of missing)
      if (!isBlock(rule)) await this.client.change('POST', path, { ...asSent(id, rule), enable: hasBlocks ? 0 : 1 })
    if (hasBlocks) await this.#enableBelowBlocks(guest, id, wanted)
    const isExtra = (one: GuestRule, all: readonly GuestRule[]) =>
      one.mark === id && !(effective(all, id).includes(one) && wanted.some(rule => isSame(one.rule, rule)))
    const all = await this.#rules(guest)
    const remaining = all.filter(one => !isExtra(one, all))
    await this.#enable(guest, remaining)
    await this.#deleteRules(guest, isExtra)
  }

  /** Moves new rules below the blocks, and enables them there. */
  async #enableBelowBlocks(guest: Guest, id: string, wanted: readonly PlainRule[]): Promise<void> {
    await this.#changeRules(guest, all => {
      const found = all.find(
        one => one.mark === id && !one.isEnabled && !isBlock(one.rule) && wanted.some(rule => isSame(one.rule, rule)),
      )
      if (!found) return null
      const last = all.findLast(isActiveBlock)
      const isAbove = last !== undefined && found.pos < last.pos
      return { method: 'PUT', rule: found, parameters: isAbove ? { moveto: last.pos + 1 } : { enable: 1 } }
    })
  }

  async #deleteRules(guest: Guest, isExtra: (rule: GuestRule, all: readonly GuestRule[]) => boolean): Promise<void> {
    await this.#changeRules(guest, all => {
      const last = all.findLast(one => isExtra(one, all))
      return last ? { method: 'DELETE', rule: last, parameters: {} } : null
    })
  }

  /**
   * Changes rules one after another, because positions change, also when others change rules. The digest notices that.
   * @param next the next change; null at the end
   */
  async #changeRules(
    guest: Guest,
    next: (
      all: readonly GuestRule[],
    ) => { method: 'PUT' | 'DELETE'; rule: GuestRule; parameters: Record<string, number | undefined> } | null,
  ): Promise<void> {
    for (let round = 0; round < maxRounds; round++) {
      const change = next(await this.#rules(guest))
      if (!change) return
      const { method, rule, parameters } = change
      try {
        await this.client.change(method, `${pathOf(guest)}/firewall/rules/${rule.pos}`, { ...parameters, digest: rule.digest })
      } catch (error) {
        if (!(error instanceof CloudError) || !/detected modified configuration/i.test(error.message)) throw error
      }
    }
    throw new CloudError('locked', 'The rules of the guest are being changed by others.', null, false)
  }

  async #removeFrom(guest: Guest, id: string, hasOthers: boolean): Promise<void> {
    if (guest.template) return
    // The policies change first, so that nothing is dropped meanwhile that passes in the end. Also if there is no rule: an earlier attempt
    // may have stopped here, and a firewall can have no rules.
    const left = (await this.#rules(guest)).filter(one => one.mark !== id)
    if (hasOthers || left.some(one => one.mark !== null)) await this.#enable(guest, left)
    // The policies before ours are not known. With rules of others, the guest may have dropped everything else before, and still does.
    else if (left.length === 0)
      await this.client.change('PUT', `${pathOf(guest)}/firewall/options`, { policy_in: 'ACCEPT', policy_out: 'ACCEPT' })
    await this.#deleteRules(guest, one => one.mark === id)
  }

  /** Drops what none of the rules allows. Outgoing packets are only restricted if one is about them. */
  async #enable(guest: Guest, rules: readonly GuestRule[]): Promise<void> {
    const wanted = policiesFor(rules)
    const options = await this.#options(guest)
    if (options.enable === 1 && policyOf(options, 'in') === wanted.in && policyOf(options, 'out') === wanted.out) return
    await this.client.change('PUT', `${pathOf(guest)}/firewall/options`, {
      enable: 1,
      policy_in: wanted.in,
      policy_out: wanted.out,
    })
  }

  async #options(guest: Guest): Promise<Record<string, unknown>> {
    const options = await this.client.get(`${pathOf(guest)}/firewall/options`)
    if (!isObject(options)) throw new CloudError('invalid_response', 'The response of Proxmox has no firewall options.')
    return options
  }

  async #rules(guest: Guest): Promise<GuestRule[]> {
    const rows = await this.client.get(`${pathOf(guest)}/firewall/rules`)
    if (!Array.isArray(rows) || !rows.every(isObject))
      throw new CloudError('invalid_response', 'The response of Proxmox has no list of rules.')
    return rows.map(ruleOf)
  }

  /** Whether the datacenter ignores all firewalls; false if the token may not read that. */
  async #isOffEverywhere(): Promise<boolean> {
    try {
      const options = await this.client.get('/cluster/firewall/options')
      return isObject(options) && options.enable !== 1
    } catch (error) {
      if (error instanceof CloudError && error.failure === 'unauthorized') return false
      throw error
    }
  }

  async #filterInterfaces(guest: Guest): Promise<void> {
    const config = await this.guests.configOf(guest)
    const options = filteringOptions(config)
    if (Object.keys(options).length > 0)
      await this.guests.configure(guest, { ...options, ...(config.digest !== undefined && { digest: config.digest }) })
  }

  async #unfilteredInterface(guest: Guest): Promise<string | null> {
    // Without hotplug, changes of a running guest have no effect until it is switched off.
    const config = configOf(await this.client.get(`${pathOf(guest)}/config`, { current: 1 }))
    const [name] = Object.keys(filteringOptions(config))
    return name === undefined ? null : `The firewall option of the network interface ${name} is off, so it is not filtered.`
  }
}

type Unreached = NonNullable<FirewallOutcome['unreached']>

/**
 * Changes a guest, unless its node can’t be reached, which is then added to what is not reached.
 * @param reachable names of nodes. One that is not reached is removed: its other guests would only take as long
 */
async function atNode(guest: Guest, reachable: Set<string>, unreached: Unreached, change: () => Promise<void>): Promise<void> {
  const { node, vmid } = guest
  try {
    if (reachable.has(node)) return await change()
  } catch (error) {
    if (!(error instanceof NodeUnreachable)) throw error
    reachable.delete(node)
  }
  unreached.push({ ref: String(vmid), detail: `The node ${node} is offline.` })
}

/** Policies of a guest that has a firewall of ours. */
const policiesFor = (rules: readonly GuestRule[]): Record<'in' | 'out', string> => ({
  in: 'DROP',
  out: rules.some(({ mark, isEnabled, rule }) => mark !== null && isEnabled && rule.direction === 'out') ? 'DROP' : 'ACCEPT',
})

const policyOf = (options: Record<string, unknown>, direction: 'in' | 'out'): unknown =>
  options[`policy_${direction}`] ?? (direction === 'out' ? 'ACCEPT' : null)

const isBlock = ({ action }: PlainRule): boolean => action === 'block'
const isActiveBlock = ({ mark, isEnabled, rule }: GuestRule): boolean => mark !== null && isEnabled && isBlock(rule)

/** The rules of a firewall that have an effect. A block has none below rules of ours that allow something. */
function effective(all: readonly GuestRule[], id: string): GuestRule[] {
  const firstAllowing = all.findIndex(
    ({ mark, isEnabled, rule }) => mark !== null && isEnabled && rule.direction === 'in' && !isBlock(rule),
  )
  return all.filter(
    (one, at) => one.mark === id && one.isEnabled && (!isBlock(one.rule) || firstAllowing === -1 || at < firstAllowing),
  )
}

const commentOf = (id: string, rule: PlainRule): string => `${id}.${rule.id}`

const asSent = (id: string, rule: PlainRule) => ({
  type: rule.direction,
  action: isBlock(rule) ? 'DROP' : 'ACCEPT',
  comment: commentOf(id, rule),
  proto: protocolOf(rule),
  dport: rule.ports.length === 0 ? undefined : rule.ports.map(one => one.replace('-', ':')).join(','),
  [rule.direction === 'in' ? 'source' : 'dest']: rule.networks.join(','),
})

/** ICMP has a protocol for each family. */
const protocolOf = ({ protocol, networks }: PlainRule): string | undefined =>
  protocol === 'any' ? undefined : protocol === 'icmp' && networks[0]!.includes(':') ? 'ipv6-icmp' : protocol

function ruleOf(row: Record<string, unknown>): GuestRule {
  const { pos, type, action, proto, dport, source, dest, comment, enable, macro, digest } = row
  if (typeof pos !== 'number') throw new CloudError('invalid_response', 'The response of Proxmox has a rule without a position.')
  const [, mark = null, ruleId = ''] = /^(fw_[0-9a-z]{26})\.(\S+)/.exec(String(comment ?? '')) ?? []
  const direction = type === 'out' ? 'out' : 'in'
  const networks = String((direction === 'in' ? source : dest) ?? '')
  const isBlocking = action === 'DROP' && direction === 'in' && proto === undefined && dport === undefined && macro === undefined
  const isOurs = isBlocking || (action === 'ACCEPT' && macro === undefined)
  const protocol = String(proto ?? 'any')
  return {
    pos,
    digest: typeof digest === 'string' ? digest : undefined,
    mark,
    isEnabled: enable === 1,
    rule: {
      ...(isBlocking && { action: 'block' as const }),
      id: ruleId,
      direction,
      // What can’t be expressed is a rule that equals none of ours.
      protocol: (isOurs ? (/^(?:ipv6-)?icmp(?:v6)?$/.test(protocol) ? 'icmp' : protocol) : String(action)) as RuleProtocol,
      ports: String(dport ?? '')
        .split(',')
        .filter(one => one !== '')
        .map(one => one.replace(':', '-')),
      networks: networks === '' ? ['0.0.0.0/0', '::/0'] : networks.split(','),
    },
  }
}

const keyOf = ({ action, direction, protocol, ports, networks }: PlainRule): string =>
  [action, direction, protocol, [...ports].sort().join(), [...networks].sort().join()].join(' ')

const isSame = (one: PlainRule, other: PlainRule): boolean => keyOf(one) === keyOf(other)
