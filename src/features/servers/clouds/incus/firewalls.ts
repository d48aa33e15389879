import { isObject } from '../../../../dns/octets'
import { isSameSet, type PlainRule, type RuleProtocol } from '../../firewalls/rules'
import { CloudError, type CloudFirewall, type FirewallDetachment, type FirewallOutcome, type FirewallReading } from '../cloud'
import type { IncusClient } from './client'
import { pathOf } from './instances'
import { instanceOf, refOf, serverOf, textsOf, type Device, type Instance } from './readings'

const markKey = 'user.bailiwick.firewall'
const aclsKey = 'security.acls'
const ingressKey = 'security.acls.default.ingress.action'
const egressKey = 'security.acls.default.egress.action'
const maxWaits = 60

interface Acl {
  name: string
  /** Id of our firewall; null for those of others. */
  mark: string | null
  /** Whether someone removed its mark, so that only its name tells. */
  isUnmarked?: boolean
  rules: PlainRule[]
}

interface Network {
  name: string
  config: Record<string, string>
}

interface Wiring {
  acls: Acl[]
  instances: Instance[]
  /** Managed networks by name. */
  networks: Map<string, Network>
}

/** Rules without networks allow nothing. */
export const incusRules = (rules: readonly PlainRule[]): PlainRule[] => rules.filter(rule => rule.networks.length > 0)

/** Names of ACLs can’t contain underscores. */
const aclName = (id: string): string => `bw-${id.replace(/^[a-z]+_/, '')}`
const ownName = /^bw-([0-9a-z]{26})$/

/**
 * Firewalls are network ACLs of network interfaces. On hosts that can’t filter single interfaces of a bridge, they are ACLs of the
 * network, as far as all its servers have the same firewall. Packets between servers of a bridge are then not filtered.
 */
export class IncusFirewalls {
  constructor(private readonly client: IncusClient) {}

  async set(firewall: CloudFirewall): Promise<FirewallOutcome> {
    const unsupported = firewall.rules.find(one => one.protocol === 'esp' || one.protocol === 'gre')
    if (unsupported) throw new CloudError('invalid', `Incus can’t filter the protocol ${unsupported.protocol}.`, null, false)
    const acls = await this.#acls()
    const found = acls.find(one => one.mark === firewall.id)
    const acl: Acl = { name: found?.name ?? aclName(firewall.id), mark: firewall.id, rules: incusRules(firewall.rules) }
    const next = [...acls.filter(one => one.name !== acl.name), acl]
    if (found && hasEgress(found) && !hasEgress(acl)) await this.#openEgress(acl, await this.#wiring(next))
    await this.#setAcl(firewall, acl, found)
    const wiring = await this.#wiring(next)
    const refused: FirewallOutcome['refused'] = []
    for (const instance of wiring.instances) {
      const ref = refOf(instance)
      const detail = firewall.refs.includes(ref) ? await this.#attach(instance, acl, firewall.refs, wiring) : null
      if (detail !== null) refused.push({ ref, detail })
      if (isIn(firewall.detach, ref)) await this.#detach(instance, acl, wiring)
    }
    await this.#freeNetworks(acl, firewall, wiring)
    return { state: 'applied', refused, warnings: [] }
  }

  async remove(id: string, detach: readonly FirewallDetachment[]): Promise<boolean> {
    const acls = await this.#acls()
    const acl = acls.find(one => one.mark === id)
    if (!acl) return true
    const wiring = await this.#wiring(acls)
    for (const instance of wiring.instances) if (isIn(detach, refOf(instance))) await this.#detach(instance, acl, wiring)
    await this.#freeNetworks(acl, { refs: [], detach }, wiring)
    const { instances, networks } = await this.#wiring(acls)
    const isUsed =
      instances.some(one => Object.values(one.expandedDevices).some(device => isAt(device, acl))) ||
      [...networks.values()].some(one => isAt(one.config, acl))
    if (!isUsed) await this.client.send('DELETE', `/network-acls/${acl.name}`)
    return true
  }

  async read(ids: readonly string[]): Promise<FirewallReading[]> {
    const acls = await this.#acls()
    const wiring = await this.#wiring(acls)
    return acls
      .filter(one => one.mark !== null && ids.includes(one.mark))
      .flatMap(acl => {
        // Interfaces can have the ACL themselves or by their network, with their own defaults.
        const attached = wiring.instances.flatMap(instance => {
          const configs = nicsOf(instance, wiring.networks).map(nic =>
            [nic.device, nic.network.config].find(one => isAt(one, acl)),
          )
          if (configs.length === 0 || configs.includes(undefined)) return []
          const changed = configs.map(one => changedDefaults(one!, wiring))
          return [
            { ref: refOf(instance), changed: (['in', 'out'] as const).filter(way => changed.some(one => one.includes(way))) },
          ]
        })
        const groups = Map.groupBy(attached, one => one.changed.join())
        const refsOf = (some: typeof attached) => some.map(one => one.ref)
        const seen = { id: acl.mark!, isMarked: !acl.isUnmarked, rules: acl.rules }
        if (groups.size === 0) return [{ ...seen, refs: [], changedDefaults: [] }]
        return [...groups.values()].map(some => ({
          ...{ ...seen, refs: refsOf(some), changedDefaults: some[0]!.changed },
        }))
      })
  }

  async #acls(): Promise<Acl[]> {
    return (await this.client.list('/network-acls?recursion=1')).map(row => {
      const { name, config, ingress, egress } = row
      if (typeof name !== 'string' || !Array.isArray(ingress) || !Array.isArray(egress))
        throw new CloudError('invalid_response', 'The response has no network ACL.')
      const mark = isObject(config) ? config[markKey] : null
      const [, own] = ownName.exec(name) ?? []
      const isUnmarked = typeof mark !== 'string' && own !== undefined
      return {
        ...{ name, mark: typeof mark === 'string' ? mark : isUnmarked ? `fw_${own}` : null, isUnmarked },
        rules: [...ingress.flatMap(one => ruleOf(one, 'in')), ...egress.flatMap(one => ruleOf(one, 'out'))],
      }
    })
  }

  async #wiring(acls: Acl[]): Promise<Wiring> {
    const instances = (await this.client.list('/instances?recursion=1')).map(instanceOf)
    const networks = (await this.client.list('/networks?recursion=1'))
      .filter(one => one.managed === true)
      .map(({ name, config }) => ({ name: String(name), config: textsOf(config) }))
    return { acls, instances, networks: new Map(networks.map(one => [one.name, one])) }
  }

  /** Lets outgoing packets pass by default where no ACL is about them anymore, before one loses its last rule about them. */
  async #openEgress(acl: Acl, wiring: Wiring): Promise<void> {
    const isClosed = (config: Record<string, string>) =>
      isAt(config, acl) && config[egressKey] === 'drop' && egressOf(aclsOf(config), wiring) === 'allow'
    for (const network of wiring.networks.values())
      if (isClosed(network.config)) await this.#setNetwork(network, acl, true, wiring)
    const closed = (one: Instance) => nicsOf(one, wiring.networks).filter(nic => isClosed(nic.device))
    for (const instance of wiring.instances)
      if (closed(instance).length > 0)
        await this.#setAcls(instance, wiring, current =>
          current === null ? [] : closed(current).map(nic => ({ nic, acls: aclsOf(nic.device) })),
        )
  }

  /** Creates or changes the ACL. Changes apply at once, and as a whole. */
  async #setAcl({ id, name }: CloudFirewall, acl: Acl, found: Acl | undefined): Promise<void> {
    const wanted = acl.rules
    if (found && !found.isUnmarked && isSameSet(found.rules, wanted)) return
    const body = {
      description: name,
      config: { [markKey]: id },
      ingress: wanted.filter(one => one.direction === 'in').flatMap(asSent),
      egress: wanted.filter(one => one.direction === 'out').flatMap(asSent),
    }
    if (found) await this.#send('PUT', `/network-acls/${found.name}`, body)
    else await this.#send('POST', '/network-acls', { name: acl.name, ...body })
  }

  /** Returns why a server can’t have a firewall; null if it has it. */
  async #attach(instance: Instance, acl: Acl, refs: readonly string[], wiring: Wiring): Promise<string | null> {
    const nics = nicsOf(instance, wiring.networks)
    if (nics.length === 0) return 'The server has no network interface in a managed network.'
    for (const { network } of nics) if (isAt(network.config, acl)) await this.#setNetwork(network, acl, true, wiring)
    const isMissing = ({ device, network }: Nic) =>
      !isAt(network.config, acl) && (!isAt(device, acl) || changedDefaults(device, wiring).length > 0)
    if (!nics.some(isMissing)) return null
    let problem: string | null = null
    try {
      await this.#setAcls(instance, wiring, current => {
        problem = current === null ? 'The server doesn’t exist.' : null
        // Whether the host can filter single interfaces only shows when it has to.
        if (current && serverOf(current).power !== 'on') problem = 'The server is off. It gets the firewall once it runs.'
        return current === null || problem !== null
          ? []
          : nicsOf(current, wiring.networks)
              .filter(isMissing)
              .map(nic => ({ nic, acls: [...new Set([...aclsOf(nic.device), acl.name])] }))
      })
      return problem
    } catch (error) {
      if (!(error instanceof CloudError) || !isFinal.has(error.failure)) throw error
      return await this.#attachNetworks(nics, acl, refs, wiring, error.message)
    }
  }

  async #attachNetworks(
    nics: readonly Nic[],
    acl: Acl,
    refs: readonly string[],
    wiring: Wiring,
    reason: string,
  ): Promise<string | null> {
    for (const { network } of nics) {
      const others = wiring.instances.filter(
        one => !refs.includes(refOf(one)) && nicsOf(one, wiring.networks).some(nic => nic.network === network),
      )
      if (others.length > 0)
        return `The host can’t filter single interfaces of the network ${network.name}. Attach the firewall to all its servers, also ${others[0]!.name}. (${reason})`
    }
    for (const { network } of nics) await this.#setNetwork(network, acl, true, wiring)
    return null
  }

  async #detach(instance: Instance, acl: Acl, wiring: Wiring): Promise<void> {
    const affected = (one: Instance) => nicsOf(one, wiring.networks).filter(nic => isAt(nic.device, acl))
    if (affected(instance).length === 0) return
    await this.#setAcls(instance, wiring, current =>
      current === null ? [] : affected(current).map(nic => ({ nic, acls: aclsOf(nic.device).filter(one => one !== acl.name) })),
    )
  }

  /**
   * Sets ACLs of network interfaces. The server is read right before that: volumes may have been attached since all servers were listed.
   * @param changesOf the interfaces to change, for the server as it is now; null if it is gone
   */
  async #setAcls(
    instance: Instance,
    wiring: Wiring,
    changesOf: (current: Instance | null) => { nic: Nic; acls: string[] }[],
  ): Promise<void> {
    const accepted = await this.client.update('PATCH', pathOf(instance.name), row => {
      const current = row && instanceOf(row)
      const changes = changesOf(current && refOf(current) === refOf(instance) ? current : null)
      if (!current || changes.length === 0) return null
      const changed = changes.map(({ nic, acls }) => [nic.name, withAcls(nic.device, acls, wiring)])
      return { devices: { ...current.devices, ...Object.fromEntries(changed) } }
    })
    if (accepted) await this.#finished(accepted)
  }

  /** Removes the ACL from networks of detached servers, unless another server of the network should have it. */
  async #freeNetworks(acl: Acl, { refs, detach }: Pick<CloudFirewall, 'refs' | 'detach'>, wiring: Wiring): Promise<void> {
    for (const network of wiring.networks.values()) {
      if (!isAt(network.config, acl)) continue
      const inside = wiring.instances.filter(one => nicsOf(one, wiring.networks).some(nic => nic.network === network)).map(refOf)
      const isLeft = inside.length === 0 || inside.some(ref => isIn(detach, ref))
      if (isLeft && !inside.some(ref => refs.includes(ref))) await this.#setNetwork(network, acl, false, wiring)
    }
  }

  async #setNetwork(network: Network, acl: Acl, isWanted: boolean, wiring: Wiring): Promise<void> {
    const keys = [aclsKey, ingressKey, egressKey]
    const accepted = await this.client.update('PATCH', `/networks/${encodeURIComponent(network.name)}`, row => {
      const current = textsOf(row?.config)
      const others = aclsOf(current).filter(one => one !== acl.name)
      network.config = withAcls(current, isWanted ? [...others, acl.name] : others, wiring)
      if (!row || keys.every(key => (network.config[key] ?? '') === (current[key] ?? ''))) return null
      // An empty value removes a key.
      return { config: Object.fromEntries(keys.map(key => [key, network.config[key] ?? ''])) }
    })
    if (accepted) await this.#finished(accepted)
  }

  async #send(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object): Promise<void> {
    await this.#finished(await this.client.send(method, path, body))
  }

  /** Waits until a change has been made. */
  async #finished({ operation }: Awaited<ReturnType<IncusClient['send']>>): Promise<void> {
    if (operation === null) return
    for (let waits = 0; waits < maxWaits; waits++) {
      const found = await this.client.operation(operation)
      if (found.state === 'failed') throw found.error
      // What is there is read again before it is changed again.
      if (found.state === 'gone') throw new CloudError('timeout', 'The result of the change is not known.', null, true)
      if (found.state === 'done') return
    }
    throw new CloudError('timeout', 'The change did not finish in time.', null, true)
  }
}

interface Nic {
  name: string
  device: Device
  network: Network
}

const isFinal: ReadonlySet<string> = new Set(['refused', 'invalid', 'not_found', 'quota'])

const nicsOf = ({ expandedDevices }: Instance, networks: Wiring['networks']): Nic[] =>
  Object.entries(expandedDevices).flatMap(([name, device]) => {
    const network = device.type === 'nic' ? networks.get(device.network ?? '') : undefined
    return network ? [{ name, device, network }] : []
  })

/** The ACLs of an interface or a network. */
const aclsOf = (config: Record<string, string>): string[] =>
  (config[aclsKey] ?? '')
    .split(',')
    .map(one => one.trim())
    .filter(one => one !== '')

const isAt = (config: Record<string, string>, { name }: Acl): boolean => aclsOf(config).includes(name)

const isIn = (detach: readonly FirewallDetachment[], ref: string): boolean => detach.some(one => one.ref === ref)

const hasEgress = ({ rules }: Acl): boolean => rules.some(one => one.direction === 'out')

/** Outgoing packets are only restricted if a rule is about them. */
const egressOf = (names: readonly string[], { acls }: Wiring): string =>
  acls.some(one => names.includes(one.name) && hasEgress(one)) ? 'drop' : 'allow'

/** Directions in which an interface or network with firewalls treats packets that no rule is about otherwise than they need. */
const changedDefaults = (config: Record<string, string>, wiring: Wiring): ('in' | 'out')[] => [
  // Packets are rejected by default.
  ...(config[ingressKey] === 'drop' ? [] : ['in' as const]),
  ...(config[egressKey] === egressOf(aclsOf(config), wiring) ? [] : ['out' as const]),
]

function withAcls(config: Record<string, string>, names: readonly string[], wiring: Wiring): Record<string, string> {
  const { [aclsKey]: _, [ingressKey]: __, [egressKey]: ___, ...rest } = config
  if (names.length === 0) return rest
  return { ...rest, [aclsKey]: names.join(','), [ingressKey]: 'drop', [egressKey]: egressOf(names, wiring) }
}

/** ICMP has a protocol for each family, and a rule must not mix families. */
function asSent({ action, id, direction, protocol, ports, networks }: PlainRule): object[] {
  return ([4, 6] as const).flatMap(family => {
    const some = networks.filter(one => one.includes(':') === (family === 6))
    if (some.length === 0) return []
    return [
      {
        // Of all ACLs of an interface, these come first.
        action: action === 'block' ? 'drop' : 'allow',
        state: 'enabled',
        description: id,
        ...(protocol !== 'any' && { protocol: protocol === 'icmp' ? `icmp${family}` : protocol }),
        [direction === 'in' ? 'source' : 'destination']: some.join(','),
        ...(ports.length > 0 && { destination_port: ports.join(',') }),
      },
    ]
  })
}

/** Reads a rule. One that does not allow anything is left out; what can't be expressed is a rule that equals none of ours. */
function ruleOf(rule: unknown, direction: 'in' | 'out'): PlainRule[] {
  const { action, state, protocol = '', source = '', destination = '', destination_port = '', description = '' } = textsOf(rule)
  if (state === 'disabled') return []
  const networks = (direction === 'in' ? source : destination).split(',').filter(one => one !== '')
  const isBlock = action === 'drop' && direction === 'in' && protocol === '' && destination_port === ''
  return [
    {
      ...(isBlock && { action: 'block' as const }),
      id: description,
      direction,
      protocol: (action === 'allow' || isBlock ? protocol.replace(/^icmp[46]$/, 'icmp') || 'any' : action) as RuleProtocol,
      ports: destination_port.split(',').filter(one => one !== ''),
      // No network means all.
      networks: networks.length > 0 ? networks : ['0.0.0.0/0', '::/0'],
    },
  ]
}
