// Serials have 32 bits and wrap around (RFC 1982).

/** Next serial; never 0. */
export const nextSerial = (serial: number): number => (serial >= 0xffff_ffff ? 1 : serial + 1)

/** Returns whether a serial is newer than another (RFC 1982 section 3.2). */
export const isAhead = (serial: number, of: number): boolean => serial !== of && (serial - of) >>> 0 < 0x8000_0000
