/** Built-in plugins that are switched off. The page hides features that need them. */

const names = document.querySelector<HTMLMetaElement>('meta[name="archivolt-left-out"]')?.content.split(' ') ?? []

export const isThere = (plugin: string): boolean => !names.includes(plugin)
