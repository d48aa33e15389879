import { isObject } from '../../../../dns/octets'
import type { Catalog } from '../cloud'
import type { Guest } from './guests'

/** Templates as images. @param guests all guests of the cluster */
export const imagesOf = (guests: readonly Guest[]): Catalog['images'] =>
  guests
    .filter(one => one.template)
    .map(({ vmid, type, name, diskBytes }) => ({
      slug: String(vmid),
      title: `${name ?? vmid}${type === 'lxc' ? ' (container)' : ''}`,
      family: families.exec((name ?? '').toLowerCase())?.[0] ?? null,
      architecture: null,
      kind: 'template' as const,
      minDiskBytes: diskBytes,
      isDeprecated: false,
    }))

const families = /debian|ubuntu|fedora|rocky|alma|centos|alpine|arch|opensuse|gentoo|freebsd|windows/

/** Bridges as networks: those with the same name are the same network on all nodes. @param bridges by node */
export function networksOf(bridges: ReadonlyMap<string, unknown>): Catalog['networks'] {
  const networks = new Map<string, { nodes: string[]; cidrs: Set<string> }>()
  for (const [node, rows] of bridges)
    for (const row of Array.isArray(rows) ? rows.filter(isObject) : []) {
      const { iface, cidr, cidr6 } = row
      if (typeof iface !== 'string') continue
      const network = networks.get(iface) ?? { nodes: [], cidrs: new Set() }
      network.nodes.push(node)
      for (const one of [cidr, cidr6]) if (typeof one === 'string' && one !== '') network.cidrs.add(one)
      networks.set(iface, network)
    }
  return [...networks].map(([ref, { nodes, cidrs }]) => ({
    ref,
    title: ref,
    cidrs: [...cidrs],
    location: nodes.length === 1 && bridges.size > 1 ? nodes[0]! : null,
  }))
}
