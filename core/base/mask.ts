/** Removes user names and passwords from URLs before a text is shown or stored. */

/** What stands in the place of a secret. */
export const MASK = '***'

/** `https://me:secret@host/x` → `https://***@host/x`; anything else stays as it is. */
export function maskCredentials(text: string): string {
  // A password may contain @: the last one before the path ends it.
  return text.replaceAll(/([a-z0-9+.-]:\/\/)[^\s/?#]+@/gi, `$1${MASK}@`)
}

/** Whether the credentials are masked: the client sends back what it was shown. */
export const isMasked = (text: string): boolean => text.includes(`://${MASK}@`)
