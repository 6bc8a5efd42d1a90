/** Default security headers of HTML replies, and a builder for content security policies. */

/** Directive → sources. Anything not listed is forbidden. */
type Directives = Readonly<Record<`${string}-src` | 'form-action' | 'frame-ancestors' | 'sandbox', string>>

/** Allows what is listed, and nothing else; no page may frame this one unless `frame-ancestors` names it. */
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

/** Sent with every HTML reply; a route may override them. */
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
