/** What people try to smuggle into arguments; each would create the canary if a program interpreted it. */
export const payloads = (canary: string): string[] => {
  const touch = `touch ${canary}`
  return [
    // Separators, pipes and background.
    `;${touch}`, `; ${touch} ;`, `x;${touch}`, `| ${touch}`, `|| ${touch}`, `& ${touch}`, `&& ${touch}`, `x & ${touch} &`, `;;${touch}`, `|& ${touch}`,
    // Lines.
    `\n${touch}`, `\n${touch}\n`, `\r\n${touch}`, `-l\n${touch}`, `\r${touch}`, `\u2028${touch}`, `\v${touch}`, `%0a${touch}`, `%0d%0a${touch}`, `\\n${touch}`,
    // Substitution.
    `$(${touch})`, `\`${touch}\``, `"$(${touch})"`, `'$(${touch})'`, `\${IFS}$(${touch})`, `$(touch\${IFS}${canary})`, `<(${touch})`, `>(${touch})`, `$((\`${touch}\`))`, `{touch,${canary}}`,
    // Redirection.
    `> ${canary}`, `>${canary}`, `>> ${canary}`, `2>${canary}`, `&>${canary}`, `<>${canary}`, `>|${canary}`, `<<< x > ${canary}`,
    // Expansion.
    '$HOME', '${HOME}', '$PATH', '~', '~root', '%PATH%', '!!', '$0', '$$', '*', '/*', '?', '[a-z]*', '/tmp/{a,b}', '**/*', // eslint-disable-line no-template-curly-in-string
    // Quotes that close.
    `"; ${touch}; "`, `'; ${touch}; '`, `\\"; ${touch}`, `'"\`;${touch}`, `)${touch}(`, `\\'; ${touch} #`, `"|${touch}|"`,
    // Flags of well-known programs.
    `--upload-pack=${touch}`, `--receive-pack=sh -c '${touch}'`, `-o ProxyCommand=${touch}`, `-oProxyCommand=${touch}`, `--exec=${touch}`, `-exec ${touch} ;`,
    `--checkpoint-action=exec=${touch}`, `--output=${canary}`, `-o${canary}`, `-c ${touch}`, `--config=core.pager=${touch}`, `--use-compress-program=${touch}`, '--', '-', '-la -R',
    // Dashes that are none.
    '\u2013la', '\u2014exec', '\u2212la', '\uff0dla', '\u2010la', '\u00adla', '\ufe63la',
    // Paths.
    '../', '../../etc/passwd', '/tmp/../etc/passwd', '/tmp//', '/tmp/..', '/tmp/./..', '..\\..\\', '/tmp/%2e%2e/etc', 'file:///etc/passwd', '/etc/passwd', '/dev/tcp/127.0.0.1/1', '\\\\host\\share',
    // Odd characters.
    '', ' ', '\t', '\u202e/tmp', '\ufeff-la', '-la ', ' -la', '\u0000', `/tmp\u0000;${touch}`, '-l\u0000a', '\u001b[2J', '😀', 'é', 'e\u0301', '\ufffd', '\ud83d', '\udc00x',
    // Other languages.
    `'; require('fs').writeFileSync('${canary}', '') //`, `__import__('os').system('${touch}')`, '\' OR 1=1 --', `{{constructor.constructor('${touch}')()}}`, `() { :;}; ${touch}`, `%$(${touch})s`, '%s%n', `@${canary}`
  ]
}
