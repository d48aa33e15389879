import type { CloudKind } from './cloud'

/** All kinds of clouds, in display order. */
export const cloudKinds: readonly CloudKind[] = []

export const cloudKindOf = (kind: string): CloudKind | undefined => cloudKinds.find(one => one.kind === kind)
