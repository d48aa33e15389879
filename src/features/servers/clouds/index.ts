import type { CloudKind } from './cloud'
import { hetzner } from './hetzner/hetzner'
import { proxmox } from './proxmox/proxmox'

/** All kinds of clouds, in display order. */
export const cloudKinds: readonly CloudKind[] = [hetzner, proxmox]

export const cloudKindOf = (kind: string): CloudKind | undefined => cloudKinds.find(one => one.kind === kind)
