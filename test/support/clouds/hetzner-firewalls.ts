import { formatAddress, inRanges, parseAddress, parseRange } from '../../../src/core/net/address'
import { HetznerRefused, invalidInput, notFound } from '../hetzner-refused'
import {
  labelSelector,
  refuseLabels,
  uniqueness,
  type HetznerAction,
  type HetznerFirewall,
  type HetznerProject,
  type HetznerRule,
  type HetznerServer,
} from './hetzner-project'
import { actionShown, created, matches, ok, sorted, type Call, type Routes } from './hetzner-routes'

interface Resource {
  type: 'server' | 'label_selector'
  server?: { id: number }
  label_selector?: { selector: string }
}

interface FirewallDraft {
  name: string
  rules?: Partial<HetznerRule>[]
  labels?: Record<string, string>
  apply_to?: Resource[]
}

const maxRules = 50
const maxEffectiveRules = 500
const maxAddresses = 100
const maxFirewalls = 5

/** Firewalls, their rules, and the servers they apply to. */
export function firewallRoutes(project: HetznerProject): Routes {
  const shown = (action: HetznerAction) => actionShown(project, action)
  const firewallOf = ({ ids }: Call): HetznerFirewall => firewallFor(project, ids[0]!)
  /** Refuses changes while another one is running. */
  const idleOf = (call: Call): HetznerFirewall => {
    const firewall = firewallOf(call)
    if (project.isLocked('firewall', firewall.id)) throw new HetznerRefused(409, 'conflict', 'firewall is being changed')
    return firewall
  }
  const list = ({ query }: Call) => {
    const isSelected = labelSelector(query.get('label_selector'))
    const found = [...project.firewalls.values()].filter(one => matches(query, 'name', one.name) && isSelected(one.labels))
    return sorted(found, query, (one, field) => (field === 'name' ? one.name : one.created))
  }
  return {
    'GET /firewalls': call =>
      call.listed(
        'firewalls',
        () => list(call),
        one => firewallShown(project, one),
      ),
    'GET /firewalls/{id}': call => ok({ firewall: firewallShown(project, firewallOf(call)) }),
    'POST /firewalls': ({ body }) => {
      const { firewall, actions } = createFirewall(project, body)
      return created({ firewall: firewallShown(project, firewall), actions: actions.map(shown) })
    },
    'PUT /firewalls/{id}': call => {
      const firewall = idleOf(call)
      const { name, labels } = call.body
      refuseLabels(labels)
      if (name !== undefined) refuseName(project, name, firewall)
      Object.assign(firewall, call.body)
      return ok({ firewall: firewallShown(project, firewall) })
    },
    'DELETE /firewalls/{id}': call => {
      const firewall = idleOf(call)
      if (firewall.servers.length > 0 || firewall.selectors.length > 0)
        throw new HetznerRefused(422, 'resource_in_use', 'firewall is still applied to resources')
      project.firewalls.delete(firewall.id)
      return { status: 204 }
    },
    'POST /firewalls/{id}/actions/set_rules': call => {
      const firewall = idleOf(call)
      const rules = rulesOf(call.body.rules)
      const set = project.act('set_firewall_rules', [resourceOf(firewall)], () => void (firewall.rules = rules))
      const applied = serversOf(project, firewall).map(one => apply(project, firewall, one, set))
      return created({ actions: [set, ...applied].map(shown) })
    },
    'POST /firewalls/{id}/actions/apply_to_resources': call => {
      const firewall = idleOf(call)
      return created({ actions: applyTo(project, firewall, call.body.apply_to).map(shown) })
    },
    'POST /firewalls/{id}/actions/remove_from_resources': call => {
      const firewall = idleOf(call)
      return created({ actions: removeFrom(project, firewall, call.body.remove_from).map(shown) })
    },
  }
}

/** Creates a firewall, and applies it. @throws HetznerRefused */
export function createFirewall(project: HetznerProject, { name, rules = [], labels = {}, apply_to = [] }: FirewallDraft) {
  refuseName(project, name)
  refuseLabels(labels)
  const firewall: HetznerFirewall = {
    ...{ id: project.newId(), name, labels, created: project.now(), rules: rulesOf(rules), servers: [], selectors: [] },
  }
  project.firewalls.set(firewall.id, firewall)
  const set = project.act('set_firewall_rules', [resourceOf(firewall)], () => {})
  return { firewall, actions: [set, ...applyTo(project, firewall, apply_to)] }
}

/** Applies a firewall to a server. @param after an action that it waits for */
export function applyToServer(project: HetznerProject, id: number, server: HetznerServer, after?: HetznerAction): HetznerAction {
  const firewall = firewallFor(project, id)
  firewall.servers.push(server.id)
  return apply(project, firewall, server, after)
}

/** Firewalls of a server, applied directly or by a label selector. */
export const firewallsOf = (project: HetznerProject, server: HetznerServer): HetznerFirewall[] =>
  [...project.firewalls.values()].filter(one => isAppliedTo(one, server))

/** Whether a firewall is being applied to a server. */
export const isPending = (project: HetznerProject, firewall: HetznerFirewall, server: HetznerServer): boolean =>
  project
    .actionsOf('firewall', firewall.id)
    .some(one => project.isRunning(one) && one.resources.some(({ id, type }) => type === 'server' && id === server.id))

/** Whether the firewalls of a server let a packet pass: all incoming ones that no rule allows are dropped. */
export function isAllowed(
  project: HetznerProject,
  server: HetznerServer,
  { direction, protocol, port, address }: { direction: 'in' | 'out'; protocol: string; port: number | null; address: string },
): boolean {
  project.settle()
  const firewalls = firewallsOf(project, server)
  const rules = firewalls.flatMap(one => one.rules).filter(one => one.direction === direction)
  if (firewalls.length === 0 || (direction === 'out' && rules.length === 0)) return true
  return rules.some(rule => {
    const ranges = (direction === 'in' ? rule.source_ips : rule.destination_ips).flatMap(one => [parseRange(one)!])
    const [low = 0, high = low] = rule.port?.split('-').map(Number) ?? []
    const isPort = rule.port === null || (port !== null && port >= low && port <= high)
    return rule.protocol === protocol && isPort && inRanges(parseAddress(address)!, ranges)
  })
}

function firewallFor(project: HetznerProject, id: number): HetznerFirewall {
  const firewall = project.firewalls.get(id)
  if (!firewall) throw notFound(`firewall with ID '${id}'`)
  return firewall
}

const isAppliedTo = ({ servers, selectors }: HetznerFirewall, { id, labels }: HetznerServer): boolean =>
  servers.includes(id) || selectors.some(one => labelSelector(one)(labels))

const serversOf = (project: HetznerProject, firewall: HetznerFirewall): HetznerServer[] =>
  [...project.servers.values()].filter(one => isAppliedTo(firewall, one))

const resourceOf = ({ id }: HetznerFirewall) => ({ id, type: 'firewall' })

const apply = (project: HetznerProject, firewall: HetznerFirewall, { id }: HetznerServer, after?: HetznerAction): HetznerAction =>
  project.act('apply_firewall', [resourceOf(firewall), { id, type: 'server' }], () => {}, { ...(after && { after }) })

function applyTo(project: HetznerProject, firewall: HetznerFirewall, resources: readonly Resource[]): HetznerAction[] {
  const servers = resources.flatMap(({ server }) => (server ? [publicServer(project, server.id)] : []))
  const selectors = resources.flatMap(({ label_selector }) => (label_selector ? [label_selector.selector] : []))
  selectors.forEach(labelSelector)
  if (servers.some(one => firewall.servers.includes(one.id)) || selectors.some(one => firewall.selectors.includes(one)))
    throw new HetznerRefused(422, 'firewall_already_applied', 'firewall is already applied to the resource')
  if (new Set(servers).size < servers.length) throw new HetznerRefused(422, 'server_already_added', 'server added more than once')
  if (servers.some(one => firewallsOf(project, one).length >= maxFirewalls))
    throw new HetznerRefused(403, 'resource_limit_exceeded', `a server can have ${maxFirewalls} firewalls`)
  firewall.servers.push(...servers.map(one => one.id))
  firewall.selectors.push(...selectors)
  const matched = selectors.length === 0 ? [] : serversOf(project, firewall).filter(one => !firewall.servers.includes(one.id))
  return [...servers, ...matched].map(one => apply(project, firewall, one))
}

function removeFrom(project: HetznerProject, firewall: HetznerFirewall, resources: readonly Resource[]): HetznerAction[] {
  return resources.map(({ server, label_selector }) => {
    const isKnown = server ? firewall.servers.includes(server.id) : firewall.selectors.includes(label_selector!.selector)
    if (!isKnown && server && serversOf(project, firewall).some(one => one.id === server.id))
      throw new HetznerRefused(422, 'firewall_managed_by_label_selector', 'firewall is applied by a label selector')
    if (!isKnown) throw new HetznerRefused(404, 'firewall_resource_not_found', 'resource not found')
    const resource = server ? [{ id: server.id, type: 'server' }] : []
    return project.act('remove_firewall', [resourceOf(firewall), ...resource], () => {
      firewall.servers = firewall.servers.filter(id => id !== server?.id)
      firewall.selectors = firewall.selectors.filter(one => one !== label_selector?.selector)
    })
  })
}

function publicServer(project: HetznerProject, id: number): HetznerServer {
  const server = project.servers.get(id)
  if (!server) throw new HetznerRefused(404, 'firewall_resource_not_found', `server with ID '${id}' not found`)
  if (!server.ipv4 && !server.ipv6) throw new HetznerRefused(422, 'private_net_only_server', 'server has no public interface')
  return server
}

function refuseName(project: HetznerProject, name: string, of?: HetznerFirewall): void {
  if (name === '' || name.length > 128) throw invalidInput('name', 'Must have 1 to 128 characters.')
  for (const one of project.firewalls.values()) if (one !== of && one.name === name) throw uniqueness('firewall name')
}

/** Rules as they are stored: addresses are canonical. @throws HetznerRefused */
function rulesOf(rules: readonly Partial<HetznerRule>[]): HetznerRule[] {
  if (rules.length > maxRules) throw invalidInput('rules', `Must have at most ${maxRules} rules.`)
  const stored = rules.map(
    ({ direction, protocol, port = null, source_ips = [], destination_ips = [], description = null }, at) => {
      const field = `rules.${at}`
      const [wanted, other] = direction === 'in' ? [source_ips, destination_ips] : [destination_ips, source_ips]
      if (wanted.length === 0 || other.length > 0) throw invalidInput(field, 'Must have addresses of its direction only.')
      if (wanted.length > maxAddresses) throw invalidInput(field, `Must have at most ${maxAddresses} addresses.`)
      const hasPort = protocol === 'tcp' || protocol === 'udp'
      if (hasPort ? !isPortRange(port) : port !== null) throw invalidInput(`${field}.port`, 'Must be a port or a range of ports.')
      return {
        ...{ direction: direction!, protocol: protocol!, port, description },
        source_ips: source_ips.map(one => canonical(one, `${field}.source_ips`)),
        destination_ips: destination_ips.map(one => canonical(one, `${field}.destination_ips`)),
      }
    },
  )
  if (stored.reduce((sum, one) => sum + one.source_ips.length + one.destination_ips.length, 0) > maxEffectiveRules)
    throw invalidInput('rules', `Must have at most ${maxEffectiveRules} effective rules.`)
  return stored
}

function isPortRange(port: string | null): boolean {
  const [, low, high = low] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(port ?? '') ?? []
  return low !== undefined && Number(low) >= 1 && Number(low) <= Number(high) && Number(high) <= 65_535
}

function canonical(cidr: string, field: string): string {
  const [address, length] = (cidr.includes('/') && parseRange(cidr)) || []
  const isNetwork = address?.kind() === 'ipv4' || address?.kind() === 'ipv6'
  if (!isNetwork) throw invalidInput(field, `${cidr} is not in CIDR notation`)
  const octets = address!.toByteArray()
  const hasHostBits = octets.some((octet, at) => (octet & (0xff >> Math.min(8, Math.max(0, length! - at * 8)))) !== 0)
  if (hasHostBits) throw invalidInput(field, `${cidr} has host bits`)
  return `${formatAddress(address!)}/${length}`
}

function firewallShown(project: HetznerProject, firewall: HetznerFirewall): object {
  const { servers, selectors, ...fields } = firewall
  const serverShown = (id: number) => ({ type: 'server', server: { id } })
  return {
    ...fields,
    applied_to: [
      ...servers.map(serverShown),
      ...selectors.map(selector => ({
        type: 'label_selector',
        label_selector: { selector },
        applied_to_resources: serversOf(project, { ...firewall, servers: [], selectors: [selector] }).map(one =>
          serverShown(one.id),
        ),
      })),
    ],
  }
}
