/**
 * Security headers that every HTML answer has unless its route sets others; how a content security policy is written.
 */

/** Directive → sources; what is not named is not allowed. */
type Directives = Readonly<Record<`${string}-src` | 'form-action' | 'frame-ancestors' | 'sandbox', string>>

/**
 * The content security policy of a page that says itself what it may load: nothing but that, and no other page may show
 * it in a frame, unless it says which.
 */
export function contentPolicy(allowed: Partial<Directives>): string {
  const directives = {
    'default-src': `'none'`,
    ...allowed,
    'base-uri': `'none'`,
    'form-action': allowed['form-action'] ?? `'none'`,
    'frame-ancestors': allowed['frame-ancestors'] ?? `'none'`,
  }
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources}`)
    .join('; ')
}

/** Go along with every HTML answer; its route may set others. */
export const HTML_DEFAULTS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentPolicy({
    'default-src': `'self'`,
    'img-src': `'self' data:`,
    'object-src': `'none'`,
    'form-action': `'self'`,
  }),
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}
