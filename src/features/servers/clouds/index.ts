import type { CloudKind } from './cloud'
import { hetzner } from './hetzner/hetzner'
import { incus } from './incus/incus'
import { proxmox } from './proxmox/proxmox'

/** All kinds of clouds, in display order. */
export const cloudKinds: readonly CloudKind[] = [hetzner, proxmox, incus]

export const cloudKindOf = (kind: string): CloudKind | undefined => cloudKinds.find(one => one.kind === kind)
