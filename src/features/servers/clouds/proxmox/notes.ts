import type { ServerOrder } from '../cloud'

// The description of a guest is the only free text that Proxmox stores with it: tags allow neither `=` nor capital letters. Its first line
// says whose server it is, the next ones what Proxmox doesn't know. What people write below is kept.

/** What the description of a guest says. */
interface Notes {
  mark: string | null
  image: string | null
  labels: Record<string, string>
  /** Whether it was cloned, but not configured yet. */
  isUnfinished: boolean
}

const labelPart = '[A-Za-z0-9._-]{1,63}'
const markLine = /^bailiwick (srv_\S+) (\d+)$/
const imageLine = /^image (\S+)$/
const labelLine = new RegExp(`^label (${labelPart})=(${labelPart})$`)
const unfinishedLine = 'unfinished'

/** The description of a new guest. It names its VMID, so that a clone that someone makes of it is not taken for the same server. */
export const notesOf = (
  { mark, image, labels }: Pick<ServerOrder, 'mark' | 'image' | 'labels'>,
  vmid: number,
  isUnfinished: boolean,
) => [`bailiwick ${mark} ${vmid}`, `image ${image}`, ...labelLines(labels), ...(isUnfinished ? [unfinishedLine] : [])].join('\n')

const labelLines = (labels: Record<string, string>) => Object.entries(labels).map(([key, value]) => `label ${key}=${value}`)

/** A description of Bailiwick with other labels. What people wrote below is kept. */
export function relabeled(description: string, labels: Record<string, string>): string {
  const [first, ...lines] = description.split(/\r?\n/)
  const isOwn = (line: string) => imageLine.test(line) || labelLine.test(line) || line === unfinishedLine
  const end = lines.findIndex(line => !isOwn(line))
  const [own, rest] = end < 0 ? [lines, []] : [lines.slice(0, end), lines.slice(end)]
  return [first, ...own.filter(line => !labelLine.test(line)), ...labelLines(labels), ...rest].join('\n')
}

/** Reads a description. */
export function parseNotes(description: string, vmid: number): Notes {
  const lines = description.split(/\r?\n/)
  const [, mark, ofVmid] = markLine.exec(lines[0]!) ?? []
  if (mark === undefined || Number(ofVmid) !== vmid) return { mark: null, image: null, labels: {}, isUnfinished: false }
  const notes: Notes = { mark, image: null, labels: {}, isUnfinished: false }
  for (const line of lines.slice(1)) {
    const [, image] = imageLine.exec(line) ?? []
    const [, key, value] = labelLine.exec(line) ?? []
    if (image !== undefined) notes.image = image
    else if (key !== undefined) notes.labels[key] = value!
    else if (line === unfinishedLine) notes.isUnfinished = true
    else break
  }
  return notes
}
