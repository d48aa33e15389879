/** A command of IPMI: network function, number, and parameters. */
export interface IpmiCommand {
  netFn: number
  command: number
  data?: readonly number[]
}

/** Commands that are used here (IPMI 2.0, appendix G). */
export const commands = {
  getChannelAuthenticationCapabilities: (privilege: number): IpmiCommand => ({
    netFn: 0x06,
    command: 0x38,
    // The current channel, with the information of IPMI 2.0.
    data: [0x8e, privilege],
  }),
  setSessionPrivilege: (privilege: number): IpmiCommand => ({ netFn: 0x06, command: 0x3b, data: [privilege] }),
  closeSession: (sessionId: Uint8Array): IpmiCommand => ({ netFn: 0x06, command: 0x3c, data: [...sessionId] }),
  getDeviceId: { netFn: 0x06, command: 0x01 },
  getChassisStatus: { netFn: 0x00, command: 0x01 },
  chassisControl: (control: number): IpmiCommand => ({ netFn: 0x00, command: 0x02, data: [control] }),
} satisfies Record<string, IpmiCommand | ((...given: never[]) => IpmiCommand)>

/** Parameters of Chassis Control (section 28.3). */
export const chassisControls = { powerDown: 0, powerUp: 1, powerCycle: 2, hardReset: 3, softShutdown: 5 } as const

/** A response to a command. */
export interface IpmiResponse {
  completion: number
  data: Buffer
}

const bmcAddress = 0x20
const ownAddress = 0x81

/** Formats a request (section 13.8). @param number identifies it, 0 to 63 */
export function requestMessage({ netFn, command, data = [] }: IpmiCommand, number: number): Buffer {
  const head = [bmcAddress, netFn << 2]
  const body = [ownAddress, number << 2, command, ...data]
  return Buffer.from([...head, checksum(head), ...body, checksum(body)])
}

/** Parses the response to a request; null if it is damaged or belongs to another request. */
export function responseTo({ netFn, command }: IpmiCommand, number: number, message: Uint8Array): IpmiResponse | null {
  const octets = Buffer.from(message)
  if (octets.length < 8 || checksum(octets.subarray(0, 3)) !== 0 || checksum(octets.subarray(3)) !== 0) return null
  const isOurs = octets[1]! >> 2 === (netFn | 1) && octets[4]! >> 2 === number && octets[5] === command
  return isOurs ? { completion: octets[6]!, data: octets.subarray(7, -1) } : null
}

/** The octet that makes the sum of all zero. */
const checksum = (octets: Iterable<number>): number => -[...octets].reduce((sum, octet) => sum + octet, 0) & 0xff
