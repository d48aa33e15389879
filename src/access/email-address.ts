/**
 * Normalizes an email address for use as a sign-in name. Addresses that differ only in case, or in how an accented letter is
 * composed (Unicode Standard Annex 15, form C), look the same and belong to the same user.
 */
export const normalizeEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase()
