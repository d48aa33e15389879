/**
 * An e-mail as the login it stands for: addresses that differ in case, or in how an accented letter is composed (Unicode Standard
 * Annex 15, form C), look alike and are one login.
 */
export const loginOf = (email: string): string => email.trim().normalize('NFC').toLowerCase()
