/** What the page, and the page of a plugin, may load: their content security policies. */
import { contentPolicy } from 'archivolt'

/** Of our own page. */
export const PAGE_POLICY = contentPolicy({
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': `'self' data:`,
  'media-src': `'self' blob:`,
  'connect-src': `'self'`,
  'manifest-src': `'self'`,
  // Pages of plugins.
  'frame-src': `'self'`,
  'form-action': `'self'`,
})

/**
 * Of a plugin's page: an origin of its own, so that it has no cookie, no storage, and no way into the page around it.
 * It loads its scripts and styles, and asks only through that page. Forms send nothing, but tell their scripts of
 * Enter.
 */
export const PLUGIN_PAGE_POLICY = contentPolicy({
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': 'data: blob:',
  'frame-ancestors': `'self'`,
  sandbox: 'allow-scripts allow-forms',
})
