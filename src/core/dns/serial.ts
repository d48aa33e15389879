// Serials are of 32 bits and go round (RFC 1982).

/** The serial after a change; it is never 0. */
export const nextSerial = (serial: number): number => (serial >= 0xffff_ffff ? 1 : serial + 1)

/** Whether a serial is newer than another (RFC 1982 section 3.2). */
export const isAhead = (serial: number, of: number): boolean => serial !== of && (serial - of) >>> 0 < 0x8000_0000
