/** Further styles: in the document where its address needs them, else fetched once, with the first view that does. */

let areThere: Promise<void> | undefined

/** Resolves when they hold; also where they cannot be had: then neither can the view, which says so. */
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
