import type { CloudSnapshot } from './cloud'

/** The snapshots that were created after one; also those that are being created. */
export function newerThan(all: readonly CloudSnapshot[], snapshotRef: string): CloudSnapshot[] {
  const createdAt = all.find(one => one.ref === snapshotRef)?.createdAt ?? null
  return createdAt === null ? [] : all.filter(one => one.ref !== snapshotRef && (one.createdAt ?? Infinity) > createdAt)
}
