import { isObject } from '../../../../dns/octets'
import { CloudError, type CloudSnapshot } from '../cloud'

/** The name in the ref of a snapshot, which begins with the VMID of its guest. */
export const snapshotNameOf = (ref: string): string => ref.slice(ref.indexOf('/') + 1)

/** Parses the snapshots of a guest. The list ends with its current state. */
export function snapshotsOf(vmid: number, data: unknown): CloudSnapshot[] {
  if (!Array.isArray(data)) throw new CloudError('invalid_response', 'The response of Proxmox has no list of snapshots.')
  return data.filter(isObject).flatMap(({ name, description, snaptime, snapstate, vmstate }) =>
    typeof name !== 'string' || name === 'current'
      ? []
      : [
          {
            ref: `${vmid}/${name}`,
            name: typeof description === 'string' && description.trim() !== '' ? description.trim() : name,
            serverRef: String(vmid),
            volumeRef: null,
            // A snapshot that is being created has no time, or `prepare` as its state; one that is being deleted has `delete`.
            status: snapstate || !snaptime ? ('creating' as const) : ('available' as const),
            sizeBytes: null,
            includesMemory: Number(vmstate ?? 0) === 1,
            createdAt: typeof snaptime === 'number' && snaptime > 0 ? snaptime * 1000 : null,
            labels: {},
            mark: name.startsWith('snap_') ? name : null,
          },
        ],
  )
}
