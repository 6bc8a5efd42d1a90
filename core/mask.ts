/** Takes names and passwords out of URLs, before a text is shown or kept. */

/** `https://me:secret@host/x` → `https://***@host/x`; anything else stays as it is. */
export function maskCredentials(text: string): string {
  return text.replaceAll(/([a-z0-9+.-]:\/\/)[^\s/@]+@/gi, '$1***@')
}
