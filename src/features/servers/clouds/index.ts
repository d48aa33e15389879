import type { CloudKind } from './cloud'
import { hetzner } from './hetzner/hetzner'

/** All kinds of clouds, in display order. */
export const cloudKinds: readonly CloudKind[] = [hetzner]

export const cloudKindOf = (kind: string): CloudKind | undefined => cloudKinds.find(one => one.kind === kind)
