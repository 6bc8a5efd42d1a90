/** Takes names and passwords out of URLs, before a text is shown or kept. */

const MASK = '***'

/** `https://me:secret@host/x` → `https://***@host/x`; anything else stays as it is. */
export function maskCredentials(text: string): string {
  // A password may hold further at signs: the last one before the path ends it.
  return text.replaceAll(/([a-z0-9+.-]:\/\/)[^\s/?#]+@/gi, `$1${MASK}@`)
}

/** It has a mask where credentials belong: somebody sends back what was shown. */
export const isMasked = (text: string): boolean => text.includes(`://${MASK}@`)
