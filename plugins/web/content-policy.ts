/** Content security policies: what the page, and the frames of plugin pages, may load. */
import { contentPolicy } from 'archivolt'

/** For the page itself. */
export const PAGE_POLICY = contentPolicy({
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': `'self' data:`,
  'media-src': `'self' blob:`,
  'connect-src': `'self'`,
  'manifest-src': `'self'`,
  // Frames of plugin pages.
  'frame-src': `'self'`,
  'form-action': `'self'`,
})

/**
 * For the frame of a plugin page. The frame has an origin of its own, so it has no cookies, no storage and no access to
 * the surrounding page. It may load its scripts and styles; everything else goes through that page. Forms may not
 * submit, but Enter in them still reaches scripts.
 */
export const PLUGIN_PAGE_POLICY = contentPolicy({
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': 'data: blob:',
  'frame-ancestors': `'self'`,
  sandbox: 'allow-scripts allow-forms',
})
