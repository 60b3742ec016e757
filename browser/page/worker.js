// Runs the planner, away from the page. A message {name, text, files} is a plan file and those beside it ({name: bytes});
// answers are {line} for each line that the planner tells and {status, said, files} when it has ended.
'use strict';

/* global LonghaulPlanner */

onmessage = async ({data}) => {
  const said = [];
  try {
    // A program of its own each time: what the last one left in memory is gone.
    const planner = await LonghaulPlanner({
      print: line => postMessage({line: JSON.parse(line)}),
      printErr: line => said.push(line),
    });
    if (data.lists) {
      postMessage({status: planner.callMain(['--lists']), said});
      return;
    }
    const {FS} = planner;
    // "../networks/x" lies beside the plan's folder; above the root there is nothing.
    const write = (name, content) => {
      const parts = [];
      for (const part of `/files/plan/${name}`.split('/'))
        if (part === '..') parts.pop();
        else if (part !== '' && part !== '.') parts.push(part);
      const file = `/${parts.join('/')}`;
      FS.mkdirTree(file.slice(0, file.lastIndexOf('/')) || '/');
      FS.writeFile(file, content);
    };
    for (const [name, bytes] of Object.entries(data.files)) write(name, bytes);
    write(data.name, data.text);
    const status = planner.callMain([`/files/plan/${data.name}`, '/files/plan/answer']);
    const files = {};
    if (status === 0)
      for (const name of FS.readdir('/files/plan/answer'))
        if (!name.startsWith('.')) files[name] = FS.readFile(`/files/plan/answer/${name}`, {encoding: 'utf8'});
    postMessage({status, said: said.map(line => line.replaceAll('/files/plan/', '')), files});
  } catch (error) {
    postMessage({status: 1, said: [...said, `error: the planner stopped (${error.message || error})`], files: {}});
  }
};
