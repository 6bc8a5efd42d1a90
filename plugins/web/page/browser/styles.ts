/**
 * Loads the styles of other views: with the document if its address needs them, otherwise with the first view that
 * needs them.
 */

let areThere: Promise<void> | undefined

/** Resolves when the styles apply, or failed to load: the view's chunk then fails as well, and reports the error. */
export const moreStyles = (): Promise<void> => (areThere ??= load())

function load(): Promise<void> {
  const href = document.querySelector<HTMLMetaElement>('meta[name="archivolt-styles"]')?.content
  if (href === undefined) return Promise.resolve()
  return new Promise((resolve) => {
    const link = document.createElement('link')
    link.onload = link.onerror = () => resolve()
    Object.assign(link, { rel: 'stylesheet', href })
    document.head.append(link)
  })
}
