/** Built-in plugins that are switched off: features that need them are hidden. */

const names = document.querySelector<HTMLMetaElement>('meta[name="archivolt-left-out"]')?.content.split(' ') ?? []

export const isThere = (plugin: string): boolean => !names.includes(plugin)
